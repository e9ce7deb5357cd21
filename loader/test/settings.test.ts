import { chmod, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject, Registered } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { tempProject } from "../../test/kit/src/index.ts";
import { openSettings } from "../src/settings.ts";
import { SETTINGS_SCHEMA } from "../src/settings-schema.ts";
import { canaryOf, leaves } from "./graded-settings.ts";

async function settingsWith(text: string) {
  const project = await tempProject({ agentFiles: { "settings.json": text } });
  return { project, path: join(project.agentDir, "settings.json"), settings: openSettings(project) };
}

function bytes(values: JsonObject | string): Uint8Array {
  return new TextEncoder().encode(typeof values === "string" ? values : JSON.stringify(values));
}

test.each([
  ["allow", ["compaction.enabled", "theme", "hideThinkingBlock", "skills", "prompts", "themes"]],
  ["tighten", ["defaultTools", "enabledModels", "bash.timeoutSeconds"]],
  [
    "consent",
    "extensions packages piAgent.packages shellPath shellCommandPrefix defaultProvider defaultModel".split(" "),
  ],
  ["never", ["defaultProjectTrust", "sessionDir", "httpProxy", "contextFiles", "npmCommand"]],
])("the grade %s is that of %j", (grade, keys) => {
  const schemas = new Map(leaves(SETTINGS_SCHEMA));
  for (const key of keys) expect(schemas.get(key)?.["x-project"], key).toBe(grade);
});

test("every default fits its own schema", async () => {
  const { settings, project } = await settingsWith("");
  await using _ = project;
  expect(settings.problems).toEqual([]);
  expect(settings.get("compaction.reserveTokens")).toBe(16_384);
  expect(settings.get("compaction")).toMatchObject({ enabled: true, keepRecentTokens: 20_000 });
  expect(settings.get("bash.timeoutSeconds")).toBeUndefined();
  expect(settings.get("nothing.of.the.kind")).toBeUndefined();
});

test("a file may have a byte order mark, comments and trailing commas", async () => {
  const { settings, project } = await settingsWith(
    '\uFEFF{\n  // dark\n  "theme": "dark", /* few */\n  "retry": { "maxRetries": 1, },\n}',
  );
  await using _ = project;
  expect(settings.problems).toEqual([]);
  expect([settings.get("theme"), settings.get("retry.maxRetries")]).toEqual(["dark", 1]);
  expect(settings.get("retry.enabled")).toBe(true);
});

test.each([
  ["a missing comma", '{\n  "theme": "dark"\n  "tuiMode": "regular"\n}', 3, 3, /expected "," or "}"/],
  ["a bare word", '{ "theme": dark }', 1, 12, /expected a value/],
  ["a cut file", '{ "theme": "dark"', 1, 18, /the end of the file/],
  ["a list", '["theme"]', 1, 1, /expected an object/],
  ["a string over two lines", '{ "theme": "da\nrk" }', 1, 12, /string that ends on its line/],
  ["text after the end", "{}\n{}", 2, 1, /expected the end of the file/],
])("%s is told with line and column, and leaves the defaults in force", async (_name, text, line, column, why) => {
  const { settings, project, path } = await settingsWith(text);
  await using _ = project;
  expect(settings.problems).toMatchObject([{ path, line, column, message: expect.stringMatching(why) }]);
  expect(settings.get("theme")).toBe("system");
});

test("a broken file is never written to", async () => {
  const { settings, project, path } = await settingsWith('{ "theme": "dark" ');
  await using _ = project;
  await expect(settings.set("theme", "light")).rejects.toMatchObject({ code: "settings_broken" });
  expect(await readFile(path, "utf8")).toBe('{ "theme": "dark" ');
});

test("a settings file that is no file is told and does not hang the start", async () => {
  await using project = await tempProject();
  await symlink("/dev/zero", join(project.agentDir, "settings.json"));
  const settings = openSettings(project);
  expect(settings.problems).toMatchObject([{ message: expect.stringContaining("not a regular file") }]);
  expect(settings.get("theme")).toBe("system");
});

test("nesting beyond any sense is a fault and not a crash", async () => {
  const { settings, project } = await settingsWith(`{ "theme": ${"[".repeat(50_000)}${"]".repeat(50_000)} }`);
  await using _ = project;
  expect(settings.problems).toMatchObject([{ message: expect.stringContaining("nested deeper than 200") }]);
});

test("a value that does not fit is told with its line, and its default is in force", async () => {
  const { settings, project } = await settingsWith(
    '{\n  "theme": "dark",\n  "compaction": {\n    "reserveTokens": -1\n  }\n}',
  );
  await using _ = project;
  expect(settings.problems).toMatchObject([
    { line: 4, message: '"compaction.reserveTokens" does not fit: expected an integer from 0, found -1.' },
  ]);
  expect([settings.get("compaction.reserveTokens"), settings.get("theme")]).toEqual([16_384, "dark"]);
});

test("a key that nothing knows is kept and told once, with the one it may mean", async () => {
  const { settings, project, path } = await settingsWith('{ "them": "dark", "other": { "a": 1 } }');
  await using _ = project;
  expect(settings.problems.map(({ message }) => message)).toEqual([
    'Nothing here knows the setting "them".',
    'Nothing here knows the setting "other".',
  ]);
  expect(settings.problems[0]?.hint).toContain('Did you mean "theme"?');
  await settings.set("quietStartup", true);
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ them: "dark", other: { a: 1 }, quietStartup: true });
});

const NOTES = {
  type: "object",
  properties: {
    folder: { type: "string", "x-project": "never" },
    max: { type: "integer", default: 3, "x-project": "allow" },
  },
};

function namespace(name: string, value: object): Registered<"settings"> {
  return { name, value, owner: { name: "notes", scope: "user" } };
}

test("a namespace that an extension registers is known from then on, with its defaults, until it is taken back", async () => {
  await using at = await tempProject({ agentFiles: { "settings.json": '{ "notes": { "folder": "n" } }' } });
  const namespaces = new Map<string, Registered<"settings">>();
  const settings = openSettings({ agentDir: at.agentDir, namespaces: () => namespaces });
  expect(settings.problems).toHaveLength(1);
  namespaces.set("notes", namespace("notes", NOTES));
  expect(settings.problems).toEqual([]);
  expect(settings.get("notes")).toEqual({ folder: "n", max: 3 });
  settings.grantProject(bytes({ notes: { folder: "/etc", max: 9 } }), "p", true);
  expect(settings.get("notes")).toEqual({ folder: "n", max: 9 });
  namespaces.clear();
  expect(settings.problems).toHaveLength(1);
});

test("a value that does not fit a registered schema is told with file, line and key, and the default holds", async () => {
  const text = '{\n  "notes": {\n    "max": "many",\n    "tone": "loud",\n    "tag": ""\n  }\n}';
  await using at = await tempProject({ agentFiles: { "settings.json": text } });
  const tone = { anyOf: [{ const: "dry" }, { const: "warm" }], default: "dry" };
  const schema = { type: "object", properties: { ...NOTES.properties, tone, tag: { type: "string", minLength: 1 } } };
  const namespaces = new Map([["notes", namespace("notes", schema)]]);
  const settings = openSettings({ agentDir: at.agentDir, namespaces: () => namespaces });
  expect(settings.problems.map(({ path, line, message }) => [path, line, message])).toEqual([
    [settings.path, 3, '"notes.max" does not fit: expected an integer, found a string.'],
    [settings.path, 4, '"notes.tone" does not fit: expected "dry" or "warm", found a string.'],
    [settings.path, 5, '"notes.tag" does not fit: expected a string of at least 1 characters, found a string.'],
  ]);
  expect(settings.get("notes")).toEqual({ max: 3, tone: "dry" });
  await expect(settings.set("notes.max", "more")).rejects.toMatchObject({ code: "invalid_setting" });
});

test("T4: a registered namespace adds keys, and changes none that is there, nor what a project may do to it", async () => {
  await using at = await tempProject();
  const loose = { type: "string", "x-project": "allow" };
  const namespaces = new Map([
    ["defaultProjectTrust", namespace("defaultProjectTrust", loose)],
    ["retry", namespace("retry", { type: "object", properties: { maxRetries: loose, tone: loose } })],
  ]);
  const settings = openSettings({ agentDir: at.agentDir, namespaces: () => namespaces });
  settings.grantProject(bytes({ defaultProjectTrust: "always", retry: { maxRetries: "x", tone: "warm" } }), "p", true);
  expect(settings.get("defaultProjectTrust")).toBe("ask");
  expect(settings.get("retry")).toMatchObject({ maxRetries: 3, tone: "warm" });
  expect(settings.withheld.map(({ key }) => key)).toEqual(["defaultProjectTrust", "retry.maxRetries"]);
});

test("setting a key changes that field only, and keeps comments, order, mode and link", async () => {
  const before = '{\n  // mine\n  "zzz": 1,\n  "retry": { "enabled": false },\n}';
  const { settings, project, path } = await settingsWith("{}");
  await using _ = project;
  const target = await project.write(join(project.home, "dotfiles.json"), before);
  await chmod(target, 0o660);
  await import("node:fs/promises").then((fs) => fs.rm(path));
  await symlink(target, path);
  await settings.set("retry.maxRetries", 5);
  expect(await readFile(target, "utf8")).toMatch(/\/\/ mine\n {2}"zzz": 1,[^]*"enabled": false[^]*"maxRetries": 5/);
  expect((await stat(target)).mode & 0o777).toBe(0o660);
  expect(settings.get("retry")).toMatchObject({ enabled: false, maxRetries: 5 });
});

test("what another process wrote meanwhile is kept", async () => {
  const { settings, project, path } = await settingsWith('{ "theme": "dark" }');
  await using _ = project;
  await writeFile(path, '{ "theme": "light", "outputPad": 0 }');
  await settings.set("quietStartup", true);
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ theme: "light", outputPad: 0, quietStartup: true });
  expect([settings.get("theme"), settings.get("outputPad")]).toEqual(["light", 0]);
});

test("many changes at once, from two stores, lose none", async () => {
  const { settings, project, path } = await settingsWith("");
  await using _ = project;
  const other = openSettings(project);
  const keys = "abcdefghijkl".split("").map((letter) => `mine.${letter}`);
  await Promise.all(keys.map((key, index) => (index % 2 ? settings : other).set(key, index)));
  expect(Object.keys(JSON.parse(await readFile(path, "utf8")).mine).toSorted()).toEqual("abcdefghijkl".split(""));
});

test("the first change makes the file, for its owner only", async () => {
  await using project = await tempProject();
  const agentDir = join(project.home, "new", "agent");
  await openSettings({ agentDir }).set("theme", "dark");
  expect((await stat(join(agentDir, "settings.json"))).mode & 0o777).toBe(0o600);
  expect(await readFile(join(agentDir, "settings.json"), "utf8")).toBe('{\n  "theme": "dark"\n}');
});

test("null takes a key out, so that its default holds again", async () => {
  const { settings, project, path } = await settingsWith('{ "theme": "dark", "outputPad": 0 }');
  await using _ = project;
  await settings.set("theme", null);
  expect(settings.get("theme")).toBe("system");
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ outputPad: 0 });
});

test.each([
  ["retry.maxRetries", "many"],
  ["tuiMode", "huge"],
  ["retry", { maxRetries: -1 }],
  ["a.__proto__.b", 1],
  ["", 1],
])("setting %j to %j is refused and writes nothing", async (key, value) => {
  const { settings, project, path } = await settingsWith("{}");
  await using _ = project;
  await expect(settings.set(key, value)).rejects.toMatchObject({ code: "invalid_setting" });
  expect(await readFile(path, "utf8")).toBe("{}");
});

test("a folder that cannot be written is told in three parts", async () => {
  const { settings, project } = await settingsWith("{}");
  await using _ = project;
  await project.write(join(project.agentDir, "settings.json.lock"), "a file where the lock should be");
  await expect(settings.set("theme", "dark")).rejects.toMatchObject({
    code: "settings_unwritable",
    message: expect.stringContaining("settings.json could not be written"),
    hint: expect.any(String),
  });
}, 30_000);

test("listeners hear each key that changed, and no other", async () => {
  const { settings, project } = await settingsWith('{ "theme": "dark" }');
  await using _ = project;
  const heard: string[] = [];
  const undo = settings.onChange((key) => heard.push(key));
  await settings.set("compaction.enabled", false);
  settings.grantProject(bytes({ theme: "light" }), "p", false);
  settings.revokeProject();
  expect(heard).toEqual(["compaction.enabled", "theme", "theme"]);
  await undo();
  await settings.set("theme", "x");
  expect(heard).toHaveLength(3);
});

test("reading again takes what is new, and a file that broke meanwhile leaves what was in force", async () => {
  const { settings, project, path } = await settingsWith('{ "theme": "dark" }');
  await using _ = project;
  await writeFile(path, '{ "theme": "light" }');
  settings.reload();
  expect(settings.get("theme")).toBe("light");
  await writeFile(path, "{");
  settings.reload();
  expect(settings.get("theme")).toBe("light");
  expect(settings.problems).toHaveLength(1);
});

test("former names are read as what they are called now", async () => {
  const { settings, project } = await settingsWith(
    JSON.stringify({
      queueMode: "all",
      websockets: true,
      skills: { enableSkillCommands: false, customDirectories: ["~/s"] },
      retry: { maxDelayMs: 5 },
    }),
  );
  await using _ = project;
  expect(settings.problems).toEqual([]);
  expect(settings.get("steeringMode")).toBe("all");
  expect(settings.get("transport")).toBe("websocket");
  expect([settings.get("skills"), settings.get("enableSkillCommands")]).toEqual([["~/s"], false]);
  expect(settings.get("retry.provider.maxRetryDelayMs")).toBe(5);
});

test("__proto__ is refused at any depth, from the person and from a project", async () => {
  const { settings, project } = await settingsWith(
    '{ "__proto__": { "polluted": 1 }, "modelThinkingLevels": { "__proto__": { "polluted": 1 } } }',
  );
  await using _ = project;
  settings.grantProject(
    bytes('{ "__proto__": { "polluted": 1 }, "thinkingBudgets": { "__proto__": { "low": 1 } } }'),
    "p",
    true,
  );
  expect(settings.problems.filter(({ message }) => message.includes("__proto__"))).not.toEqual([]);
  expect(settings.withheld.map(({ key }) => key)).toEqual(["__proto__", "thinkingBudgets"]);
  settings.override(
    JSON.parse('{ "__proto__": { "polluted": 1 }, "retry": { "__proto__": { "polluted": 1 } } }'),
    true,
  );
  expect(settings.get("polluted")).toBeUndefined();
  expect(Object.getPrototypeOf(settings.get("retry"))).toBe(Object.prototype);
  expect(Object.getPrototypeOf(settings.get("modelThinkingLevels") ?? {})).toBe(Object.prototype);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

test("what is handed out cannot be changed", async () => {
  const { settings, project } = await settingsWith('{ "skills": ["a"] }');
  await using _ = project;
  expect(() => (settings.get("skills") as string[]).push("b")).toThrow(TypeError);
  expect(() => Object.assign(settings.get("retry") as JsonObject, { enabled: false })).toThrow(TypeError);
});

test("T4: of all keys that we know, a granted project sets only those that it may", async () => {
  const { settings, project } = await settingsWith("");
  await using _ = project;
  for (const [key, schema] of leaves(SETTINGS_SCHEMA)) {
    const value = canaryOf(schema);
    const nested = key.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
    const before = settings.get(key);
    for (const consent of [false, true]) {
      settings.grantProject(bytes(JSON.stringify(nested)), "p", consent);
      const isFree = schema["x-project"] === "allow" || (consent && schema["x-project"] === "consent");
      if (isFree) expect(settings.get(key), key).toEqual(value);
      else if (schema["x-project"] !== "tighten") expect(settings.get(key), key).toEqual(before);
      expect(settings.userValue(key), key).toEqual(before);
    }
    settings.revokeProject();
    expect(settings.get(key), key).toEqual(before);
  }
});

test.each([
  [{ baseUrl: "http://evil" }, "baseUrl"],
  [{ apiKeys: { anthropic: "x" } }, "apiKeys"],
  [{ registry: "http://evil" }, "registry"],
  [{ retry: { provider: { baseUrl: "http://evil" } } }, "retry.provider.baseUrl"],
  [{ thinkingBudgets: { headers: { a: "b" } } }, "thinkingBudgets"],
  [{ env: { HTTPS_PROXY: "http://evil" } }, "env"],
])("F028: %j in a project has no effect, also with consent", async (values, key) => {
  const { settings, project } = await settingsWith("");
  await using _ = project;
  const before = settings.get(key);
  settings.grantProject(bytes(values), "p", true);
  expect(settings.get(key)).toEqual(before);
  expect(settings.withheld).toMatchObject([{ key, grade: "never", reason: "is yours alone to set" }]);
});

test.each([
  ["fewer tools", { defaultTools: ["read"] }, "defaultTools", ["read"]],
  ["a tool taken away", { defaultTools: ["-bash"] }, "defaultTools", ["read", "edit", "write", "grep"]],
  ["no tools", { defaultTools: [] }, "defaultTools", []],
  ["more tools", { defaultTools: ["read", "evil", "+worse"] }, "defaultTools", ["read"]],
  ["a shorter time", { bash: { timeoutSeconds: 5 } }, "bash.timeoutSeconds", 5],
  ["a longer time", { bash: { timeoutSeconds: 500 } }, "bash.timeoutSeconds", 60],
  ["images off", { images: { blockImages: true } }, "images.blockImages", true],
  ["fewer models", { enabledModels: ["a", "c"] }, "enabledModels", ["a"]],
])("a project may tighten only: %s", async (_name, values: JsonObject, key, expected) => {
  const { settings, project } = await settingsWith(
    '{ "defaultTools": ["+grep"], "bash": { "timeoutSeconds": 60 }, "enabledModels": ["a", "b"] }',
  );
  await using _ = project;
  expect(settings.get("defaultTools")).toEqual(["read", "bash", "edit", "write", "grep"]);
  settings.grantProject(bytes(values), "p", true);
  expect(settings.get(key)).toEqual(expected);
});

test("a project cannot turn a tightening back", async () => {
  const { settings, project } = await settingsWith('{ "images": { "blockImages": true } }');
  await using _ = project;
  settings.grantProject(bytes({ images: { blockImages: false } }), "p", true);
  expect(settings.get("images.blockImages")).toBe(true);
  expect(settings.withheld).toMatchObject([{ key: "images.blockImages", reason: "may only narrow what you have" }]);
});

test("lists of resources combine, other lists replace, objects merge", async () => {
  const { settings, project } = await settingsWith(
    '{ "skills": ["a", "b"], "piAgent": { "packages": ["npm:x"] }, "modelThinkingLevels": { "p/a": "low" } }',
  );
  await using _ = project;
  settings.grantProject(
    bytes({ skills: ["b", "c"], piAgent: { packages: ["npm:y"] }, modelThinkingLevels: { "p/b": "high" } }),
    "p",
    true,
  );
  expect(settings.get("skills")).toEqual(["a", "b", "c"]);
  expect(settings.projectValue("skills")).toEqual(["b", "c"]);
  expect(settings.userValue("skills")).toEqual(["a", "b"]);
  expect(settings.get("piAgent.packages")).toEqual(["npm:x", "npm:y"]);
  expect(settings.get("modelThinkingLevels")).toEqual({ "p/a": "low", "p/b": "high" });
});

test("a project's file is read as data for the plan, and a fault in it is told with its place", async () => {
  const { settings, project } = await settingsWith("");
  await using _ = project;
  const report = settings.inspectProject(
    bytes({ theme: "x", packages: ["npm:y"], compaction: { enabled: false }, odd: 1 }),
    "p",
  );
  expect(report.settings.map(({ key, grade }) => [key, grade])).toEqual([
    ["theme", "allow"],
    ["packages", "consent"],
    ["compaction.enabled", "allow"],
    ["odd", "unknown"],
  ]);
  expect(settings.get("theme")).toBe("system");
  expect(settings.inspectProject(bytes("{\n  x"), "p")).toMatchObject({
    settings: [],
    problem: { path: "p", line: 2 },
  });
  settings.grantProject(bytes("{\n  x"), "p", true);
  expect(settings.problems).toMatchObject([{ path: "p", line: 2 }]);
});

test("a value of the wrong type in a project is held back, also for an allowed key", async () => {
  const { settings, project } = await settingsWith("");
  await using _ = project;
  settings.grantProject(bytes({ retry: 5, theme: 7, "compaction.enabled": false }), "p", true);
  expect([settings.get("retry.maxRetries"), settings.get("theme"), settings.get("compaction.enabled")]).toEqual([
    3,
    "system",
    true,
  ]);
  expect(settings.withheld).toHaveLength(3);
});

test("an agent manifest's settings lie over everything, until they are taken back", async () => {
  const { settings, project } = await settingsWith('{ "theme": "dark" }');
  await using _ = project;
  const undo = settings.override({ theme: "mono", compaction: { enabled: false } }, true);
  expect([settings.get("theme"), settings.get("compaction.enabled")]).toEqual(["mono", false]);
  expect(settings.userValue("theme")).toBe("dark");
  await undo();
  expect(settings.get("theme")).toBe("dark");
});
