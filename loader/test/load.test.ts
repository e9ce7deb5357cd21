import { execFile } from "node:child_process";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ExtensionEntry } from "@pi-agent/kernel";
import { expect, test, vi } from "vitest";
import type { TempProject } from "../../test/kit/src/index.ts";
import type { JsonSchema } from "../src/json-check.ts";
import { load } from "../src/load.ts";
import type { LoadMode, LoadOptions } from "../src/options.ts";
import { findBoundary } from "../src/places.ts";
import { SETTINGS_SCHEMA } from "../src/settings-schema.ts";
import { recordPath } from "../src/trust-store.ts";
import { askedWith, canary, envOf, loadIn, makePipe, marks, PRINT, project, toolExtension } from "./loading.ts";

/** A project where everything that can be planted leaves a mark. */
async function trap(more: Record<string, string> = {}): Promise<TempProject> {
  const at = await project();
  const files = {
    ".git/config": "",
    ".pi/extensions/one.ts": canary(at, "one"),
    ".pi/extensions/two/index.ts": canary(at, "two"),
    ".pi/settings.json": JSON.stringify({ theme: "trap", extensions: ["../three.ts"] }),
    "three.ts": canary(at, "three"),
    ".pi/skills/s/SKILL.md": "---\nname: s\ndescription: trap\n---\n!`touch marks`",
    ".pi/SYSTEM.md": "trap",
    ...more,
  };
  for (const [path, text] of Object.entries(files)) await at.write(path, text);
  return at;
}

const ENTRANCES: [string, Partial<LoadOptions>][] = [
  ["print", { mode: PRINT }],
  ["json", { mode: { ...PRINT, name: "json" } }],
  ["rpc", { mode: { ...PRINT, name: "rpc", hasUI: true } }],
  ["a person who says not now", { mode: askedWith("not-now") }],
  ["a person who says never", { mode: askedWith("never") }],
  ["a question without an answer", { mode: askedWith(undefined) }],
  ["a question that fails", { mode: { ...PRINT, askTrust: () => Promise.reject(new Error("gone")) } }],
  ["the library with default options", { mode: undefined }],
  ["the library, saying not now", { mode: undefined, trust: "not-now" }],
  ["--no-approve", { flags: { approve: false } }],
];

test.each(ENTRANCES)(
  "F026, F029: nothing of an unknown project runs or steers, by way of %s",
  async (_name, options) => {
    const at = await trap();
    const { agent, host, report } = await loadIn(at, options);
    expect(marks(at)).toEqual([]);
    expect(host.settings.get("theme")).toBe("system");
    expect(["skill", "system-prompt", "prompt"].flatMap((kind) => host.resources.list(kind))).toEqual([]);
    expect(host.isProjectTrusted()).toBe(false);
    expect(agent.extensions).toEqual([]);
    expect(report.heldLine()).toBe(
      "6 project resources held back (3 extensions, 1 settings file, 1 skill, 1 system prompt): " +
        "look with pi trust show, allow with pi trust yes, or with --approve for one run",
    );
  },
);

test.each<[string, Partial<LoadOptions>]>([
  ["--approve", { flags: { approve: true } }],
  ["a person who says yes", { mode: askedWith("content") }],
  ["the library, saying yes", { mode: undefined, trust: () => "content" }],
])("F026: after a yes everything of the project runs, once: %s", async (_name, options) => {
  const at = await trap();
  const { host, report } = await loadIn(at, options);
  expect(marks(at).filter((mark) => mark.endsWith("activated"))).toEqual([
    "three activated",
    "one activated",
    "two activated",
  ]);
  expect(marks(at).filter((mark) => mark.endsWith("evaluated"))).toHaveLength(3);
  expect(host.settings.get("theme")).toBe("trap");
  expect(host.resources.list("skill").map(({ frontmatter }) => frontmatter?.name)).toEqual(["s"]);
  expect(host.resources.list("system-prompt")[0]?.text()).toBe("trap");
  expect(host.isProjectTrusted()).toBe(true);
  expect(report.heldLine()).toBeUndefined();
});

test("a person who says text gets the texts, and no code and no settings", async () => {
  const at = await trap();
  const { host, report } = await loadIn(at, { mode: askedWith("text") });
  expect(marks(at)).toEqual([]);
  expect(host.settings.get("theme")).toBe("system");
  expect(host.resources.list("skill")).toHaveLength(1);
  expect(host.isProjectTrusted()).toBe(false);
  expect(report.heldLine()).toMatch(/^4 project resources held back \(3 extensions, 1 settings file\)/);
});

test("F029: a program that says nothing gets untrusted, also where the person approved", async () => {
  const at = await trap();
  await store(at, { bound: "folder", decision: "trusted" });
  expect((await loadIn(at, { mode: undefined })).report.decision).toBe("untrusted");
  expect(marks(at)).toEqual([]);
  expect((await loadIn(at)).report).toMatchObject({ decision: "trusted", decidedBy: "record" });
});

function store(at: TempProject, more: object, key = at.path): Promise<string> {
  const fixed = { version: 1, project: key, below: false, resources: {}, decidedAt: "", decidedBy: "prompt" };
  return at.write(recordPath(at.agentDir, key), JSON.stringify({ ...fixed, ...more }));
}

test("F029: a stored no holds in every way in, but against the flag", async () => {
  const at = await trap();
  await at.write(join(at.agentDir, "trust.json"), JSON.stringify({ [at.path]: false }));
  for (const mode of [PRINT, askedWith("content")]) {
    expect((await loadIn(at, { mode })).report.decision).toBe("untrusted");
  }
  expect(marks(at)).toEqual([]);
  expect((await loadIn(at, { flags: { approve: true } })).report.decision).toBe("trusted");
});

test("T4: nothing that a project holds raises its trust", async () => {
  const at = await trap({
    ".pi/settings.json": JSON.stringify({ defaultProjectTrust: "always", trust: true }),
    ".pi/trust.json": `{ "/": true }`,
    ".pi/agent/settings.json": `{ "defaultProjectTrust": "always" }`,
    ".env": "PI_CODING_AGENT_DIR=.pi/agent\nHOME=.",
    ".npmrc": "approve=true",
    "package.json": JSON.stringify({ pi: { trust: true, extensions: ["./three.ts"] } }),
    ".git/config": "[pi]\n\ttrust = true\n[core]\n\tfsmonitor = touch marks",
  });
  const { report } = await loadIn(at);
  expect(report.decision).toBe("untrusted");
  expect(marks(at)).toEqual([]);
});

test("T4: an agent directory inside the project speaks for nobody", async () => {
  const at = await trap({
    ".agent/settings.json": `{ "defaultProjectTrust": "always", "theme": "evil" }`,
    ".agent/AGENTS.md": "evil",
  });
  await at.write(".agent/extensions/four.ts", canary(at, "four"));
  const { host, report } = await loadIn(at, { env: { ...envOf(at), PI_CODING_AGENT_DIR: join(at.path, ".agent") } });
  expect(marks(at)).toEqual([]);
  expect(host.settings.get("theme")).toBe("system");
  expect(host.resources.list("context-file")).toEqual([]);
  expect(report.plan.items.map(({ id }) => id)).toContain("extension:.agent/extensions/four.ts");
  expect(report.problems[0]).toMatchObject({ code: "agent_dir_inside" });
});

test("T4: an extension of the person's that is a link into the project takes no part in the decision", async () => {
  const at = await trap();
  await at.write(join(at.agentDir, "extensions", "fine.ts"), canary(at, "fine"));
  await symlink(join(at.path, "three.ts"), join(at.agentDir, "extensions", "linked.ts"));
  await symlink(join(at.path, ".pi", "extensions", "two"), join(at.agentDir, "extensions", "folder"));
  const { report } = await loadIn(at);
  expect(marks(at)).toEqual(["fine evaluated", "fine activated", "fine voted"]);
  expect(report.plan.items.find(({ path }) => path.endsWith("three.ts"))).toMatchObject({
    verdict: "held",
    source: "user extensions",
  });
});

test.each([
  ["an import", (path: string) => `import ${path};\nexport default () => {};`],
  ["an import that comes later", (path: string) => `export default async () => { await import(${path}); };`],
  ["require", (path: string) => `module.exports = () => { require(${path}); };`],
])("T4: code of the person's that reaches into the project before the decision is stopped: %s", async (_how, write) => {
  const at = await trap({ "cjs.js": "globalThis.reached = true;" });
  for (const [index, target] of ["three.ts", "cjs.js"].entries()) {
    const text = write(JSON.stringify(join(at.path, target)));
    await at.write(join(at.agentDir, "extensions", `reach${index}.js`), text);
  }
  const { report } = await loadIn(at);
  expect(marks(at)).toEqual([]);
  expect(globalThis).not.toHaveProperty("reached");
  expect(report.problems).toMatchObject([{ code: "inside_project" }, { code: "inside_project" }]);
});

test("F028: no setting of an unknown project is in force, whichever key it is", async () => {
  const at = await project();
  const before = (await loadIn(at)).host.settings;
  const keys = listKeys(SETTINGS_SCHEMA);
  const everything: Record<string, unknown> = {};
  for (const key of keys) setAt(everything, key.split("."), "evil");
  await at.write(".pi/settings.json", JSON.stringify(everything));
  const after = (await loadIn(at)).host.settings;
  expect(keys.length).toBeGreaterThan(50);
  for (const key of keys) expect(after.get(key), key).toEqual(before.get(key));
});

function listKeys(schema: JsonSchema, prefix = ""): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, member]) =>
    member.properties ? listKeys(member, `${prefix}${key}.`) : [prefix + key],
  );
}

function setAt(place: Record<string, unknown>, [key = "", ...rest]: string[], value: unknown): void {
  if (rest.length === 0) place[key] = value;
  else setAt((place[key] ??= {}) as Record<string, unknown>, rest, value);
}

test("F028: a trusted project's endpoint, proxy and keys stay the person's, and that is said", async () => {
  const at = await project({
    files: { ".pi/settings.json": `{ "httpProxy": "http://127.0.0.1:1", "sessionDir": "./x", "theme": "dark" }` },
  });
  const { host, report } = await loadIn(at, { flags: { approve: true } });
  expect([host.settings.get("httpProxy"), host.settings.get("sessionDir")]).toEqual([undefined, undefined]);
  expect(host.settings.get("theme")).toBe("dark");
  expect(report.problems.map(({ message }) => message).join()).toContain("httpProxy");
});

test("F032: a repository inside a trusted folder is a project of its own", async () => {
  const at = await trap();
  const inner = join(at.path, "vendor", "evil");
  await at.write("vendor/evil/.git/x", "");
  await at.write("vendor/evil/.pi/extensions/inner.ts", canary(at, "inner"));
  await store(at, { bound: "folder", decision: "trusted", below: true });
  const { report } = await loadIn(at, { cwd: inner });
  expect(report).toMatchObject({ boundary: inner, decision: "untrusted" });
  await loadIn(at);
  expect(marks(at).filter((mark) => mark.startsWith("inner"))).toEqual([]);
});

test.each<[string, Partial<LoadOptions>, string]>([
  ["an unknown flag", { flags: { approve: true, values: new Map([["plam", undefined]]) } }, "unknown_flag"],
  ["a -e that is not there", { flags: { approve: true, extensions: ["./gone.ts"] } }, "extension_source"],
  [
    "a session that cannot be had",
    {
      flags: { approve: true },
      official: [
        selecting(() => {
          throw Object.assign(new Error("no such session"), { code: "x", hint: "y" });
        }),
      ],
    },
    "x",
  ],
  [
    "a session whose folder is gone",
    { flags: { approve: true }, official: [selecting(() => ({ id: "s", cwd: "/not/there", entries: [] }))] },
    "no_cwd",
  ],
])("F037: a start that fails by %s runs nothing of the project, approved or not", async (_what, options, code) => {
  const at = await trap();
  await expect(load({ cwd: at.path, env: envOf(at), mode: PRINT, ...options })).rejects.toMatchObject({ code });
  expect(marks(at)).toEqual([]);
});

function selecting(select: () => { id: string; cwd: string; entries: [] }): ExtensionEntry {
  return {
    owner: { name: "sessions", scope: "official" },
    extension: (pi) => void pi.on("session_select", select),
  };
}

test("F004, E2: broken extensions are named with file, line and cause, and the rest works", async () => {
  const at = await project({
    agentFiles: {
      "extensions/a.ts": toolExtension("fine", "works"),
      "extensions/b.ts": "export default () => {\n  const = 1;\n};",
      "extensions/c.ts": "import x from 'not-installed';\nexport default () => x;",
      "extensions/d.ts": "export default () => {\n  throw new Error('while activating');\n};",
      "extensions/e.ts": "export const nothing = 1;",
    },
  });
  const { agent, report } = await loadIn(at);
  const path = (name: string) => join(at.agentDir, "extensions", name);
  expect([...agent.registry("tool").keys()]).toEqual(["fine"]);
  expect(report.problems.map(({ code, message }) => `${code} ${message}`)).toEqual([
    `extension_syntax ${path("b.ts")}:2:9: Unexpected token (ParseError).`,
    `extension_import ${path("c.ts")}:1:15: cannot find not-installed.`,
    `extension_failed ${path("d.ts")}:2:9: while activating`,
    `extension_export ${path("e.ts")} does not export an extension: its default export is no function.`,
  ]);
  expect(report.extensions.map(({ owner, state }) => `${owner.name.slice(-4)} ${state}`)).toEqual([
    "a.ts loaded",
    "b.ts failed",
    "c.ts failed",
    "d.ts failed",
    "e.ts failed",
  ]);
});

test("F004, E2: an extension that was asked for with -e and fails ends the start, and names every failure", async () => {
  const at = await project({
    files: { "typed.ts": "export default () => {\n  throw new Error('typed');\n};" },
    agentFiles: { "extensions/b.ts": "export default (" },
  });
  const outside = await project();
  const start = load({
    cwd: outside.path,
    env: envOf(at),
    mode: PRINT,
    flags: { extensions: [join(at.path, "typed.ts")] },
  });
  await expect(start).rejects.toMatchObject({
    code: "extension_failed",
    message: expect.stringMatching(/typed\.ts:2:9: typed\n.*b\.ts:1:\d+: /),
  });
});

test.each([
  ["./typed.ts", "extension_export"],
  ["./empty", "extension_refused"],
  ["./pipe.ts", "extension_refused"],
])("E2: a -e inside the project that fails ends the start too: %s", async (path, code) => {
  const at = await project({ files: { "typed.ts": "export default 1;", "empty/readme.md": "" } });
  makePipe(join(at.path, "pipe.ts"));
  const start = load({ cwd: at.path, env: envOf(at), mode: PRINT, flags: { extensions: [path] } });
  await expect(start).rejects.toMatchObject({ code });
});

test("E3: official packages come first, then the person's settings and folder, then -e, then the project", async () => {
  const outside = await project();
  const at = await trap();
  await at.write(join(at.agentDir, "settings.json"), JSON.stringify({ extensions: ["~/more/listed.ts"] }));
  await at.write(join(at.home, "more", "listed.ts"), canary(at, "listed"));
  await at.write(join(at.agentDir, "extensions", "folder.ts"), canary(at, "folder"));
  const typed = await outside.write("typed.ts", canary(at, "typed"));
  const official: ExtensionEntry = { owner: { name: "official", scope: "official" }, extension: () => {} };
  const { report } = await loadIn(at, {
    official: [official],
    flags: { approve: true, extensions: [typed, "./three.ts"] },
  });
  expect(report.extensions.map(({ owner }) => `${owner.scope} ${owner.name.split("/").slice(-2).join("/")}`)).toEqual([
    "official official",
    "user more/listed.ts",
    "user extensions/folder.ts",
    "flag project/typed.ts",
    "flag project/three.ts",
    "project extensions/one.ts",
    "project two/index.ts",
  ]);
});

test("E3: a name goes to -e, then the person's folder, then official packages; a project takes none", async () => {
  const outside = await project({ files: { "typed.ts": toolExtension("read", "typed") } });
  const at = await project({
    files: {
      ".pi/extensions/p.ts": `${toolExtension("read", "project").replace("};\n", "")}  pi.registerTool({ name: "added", description: "project", parameters: { type: "object", properties: {} }, async execute() { return { content: [] }; } });\n};`,
    },
    agentFiles: { "extensions/u.ts": toolExtension("read", "user") },
  });
  const official: ExtensionEntry = {
    owner: { name: "tools", scope: "official" },
    extension: (pi) =>
      void pi.registerTool({
        name: "read",
        description: "official",
        parameters: {} as never,
        execute: async () => ({ content: [] }),
      }),
  };
  const seen = async (flags: LoadOptions["flags"]) => {
    const { agent } = await loadIn(at, { official: [official], flags: { approve: true, ...flags } });
    return [...agent.registry("tool")].map(([name, { value }]) => `${name} ${value.description}`).sort();
  };
  expect(await seen({ extensions: [join(outside.path, "typed.ts")] })).toEqual(["added project", "read typed"]);
  expect(await seen({})).toEqual(["added project", "read user"]);
  expect(await seen({ noExtensions: true })).toEqual(["added project", "read official"]);
});

test("F002, E3: who loses a name is reported once, with both files, and the start goes on", async () => {
  const at = await project({
    agentFiles: { "extensions/a.ts": toolExtension("foo", "a"), "extensions/b.ts": toolExtension("foo", "b") },
  });
  const { agent, report } = await loadIn(at);
  const path = (name: string) => join(at.agentDir, "extensions", name);
  expect(agent.registry("tool").get("foo")?.value.description).toBe("a");
  expect(report.problems.map(({ code, message }) => [code, message])).toEqual([
    ["name_taken", `The tool foo of ${path("b.ts")} is not used: ${path("a.ts")} has that name.`],
  ]);
});

test("a path that was typed inside the boundary loads without trust, and takes no part in the decision", async () => {
  const at = await trap();
  const { report } = await loadIn(at, { flags: { extensions: ["three.ts"] } });
  expect(marks(at)).toEqual(["three evaluated", "three activated"]);
  expect(report.decision).toBe("untrusted");
  expect(report.plan.items[0]).toMatchObject({ id: "extension:three.ts", scope: "flag", verdict: "loaded" });
});

test("-e names a folder as well as a file, and --no-extensions leaves only what was typed", async () => {
  const at = await project({
    agentFiles: { "extensions/u.ts": toolExtension("u", ""), "more/index.ts": toolExtension("m", "") },
  });
  const { agent } = await loadIn(at, { flags: { noExtensions: true, extensions: [join(at.agentDir, "more")] } });
  expect([...agent.registry("tool").keys()]).toEqual(["m"]);
});

const VOTES: [string, string[], string, string][] = [
  ["a yes is yes", [`({ trusted: "yes" })`], "trusted", "extension"],
  ["a no is no", [`({ trusted: "no" })`], "untrusted", "extension"],
  ["any no is no", [`({ trusted: "yes" })`, `({ trusted: "no" })`, `({ trusted: "yes" })`], "untrusted", "extension"],
  ["a throw is undecided", [`{ throw new Error("x"); }`], "untrusted", "nobody"],
  [
    "a throw beside a yes leaves the yes",
    [`{ throw new Error("x"); }`, `({ trusted: "yes" })`],
    "trusted",
    "extension",
  ],
  ["true is no answer", [`({ trusted: true })`], "untrusted", "nobody"],
  ["a word is no answer", [`"yes"`], "untrusted", "nobody"],
  ["null is no answer", ["null"], "untrusted", "nobody"],
  ["yes in capitals is no answer", [`({ trusted: "YES" })`], "untrusted", "nobody"],
];

test.each(VOTES)("T4: of project_trust handlers %s", async (_claim, answers, decision, decidedBy) => {
  const extensions = answers.map((answer, index) => [
    `extensions/v${index}.ts`,
    `export default (pi) => pi.on("project_trust", async () => ${answer});`,
  ]);
  const at = await project({ files: { ".pi/prompts/p.md": "" }, agentFiles: Object.fromEntries(extensions) });
  expect((await loadIn(at)).report).toMatchObject({ decision, decidedBy });
});

test("T4: a handler that never answers is given up, named, and counts as undecided", async () => {
  const at = await project({
    files: { ".pi/prompts/p.md": "" },
    agentFiles: { "extensions/late.ts": `export default (pi) => pi.on("project_trust", () => new Promise(() => {}));` },
  });
  const faults: string[] = [];
  const listening: ExtensionEntry = {
    owner: { name: "listening", scope: "official" },
    extension: (pi) => void pi.on("extension_error", ({ owner, event }) => void faults.push(`${owner} ${event}`)),
  };
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const loading = loadIn(at, { official: [listening] });
    while (faults.length === 0) await vi.advanceTimersByTimeAsync(1_000);
    expect((await loading).report.decision).toBe("untrusted");
  } finally {
    vi.useRealTimers();
  }
  expect(faults).toEqual([`${join(at.agentDir, "extensions", "late.ts")} project_trust`]);
});

test("T4: what handlers get to see of the plan is theirs, and changes nothing", async () => {
  const at = await project({
    files: { ".pi/extensions/p.ts": "export default () => {};" },
    agentFiles: {
      "extensions/v.ts": `export default (pi) => pi.on("project_trust", ({ plan }) => { for (const item of plan.items) item.verdict = "loaded"; });`,
    },
  });
  expect((await loadIn(at)).report.plan.items.map(({ verdict }) => verdict)).toEqual(["held"]);
});

test("defaultProjectTrust of the person's own settings decides where nobody else does", async () => {
  const at = await trap();
  await at.write(join(at.agentDir, "settings.json"), `{ "defaultProjectTrust": "always" }`);
  expect((await loadIn(at)).report).toMatchObject({ decision: "trusted", decidedBy: "setting" });
});

test("T4: a session that leads into the project where the person's own folder lies gives that folder no say", async () => {
  const here = await project();
  const there = await trap({ ".agent/settings.json": `{ "defaultProjectTrust": "always" }` });
  const official = [selecting(() => ({ id: "s", cwd: there.path, entries: [] }))];
  const { report } = await loadIn(here, { official, agentDir: join(there.path, ".agent") });
  expect(report).toMatchObject({ boundary: there.path, decision: "untrusted", decidedBy: "nobody" });
  expect(marks(there)).toEqual([]);
});

test("T4: a session that leads into the project where a typed extension lies gives that extension no vote", async () => {
  const here = await project();
  const vote = `export default (pi) => pi.on("project_trust", () => ({ trusted: "yes" }));`;
  const there = await trap({ "vote.ts": vote });
  const official = [selecting(() => ({ id: "s", cwd: there.path, entries: [] }))];
  const { report } = await loadIn(here, { official, flags: { extensions: [join(there.path, "vote.ts")] } });
  expect(report).toMatchObject({ boundary: there.path, decision: "untrusted", decidedBy: "nobody" });
  expect(marks(there)).toEqual([]);
});

/** Loads here with a session of another place; answers that place's folder and what handlers are told of it. */
async function openElsewhere(here: TempProject) {
  const there = await project({ files: { ".git/x": "", ".pi/prompts/p.md": "", "sub/x": "" } });
  const sub = join(there.path, "sub");
  const told: string[] = [];
  const looking: ExtensionEntry = {
    owner: { name: "looking", scope: "official" },
    extension: (pi) => void pi.on("resources_changed", (_event, ctx) => void told.push(ctx.cwd)),
  };
  const official = [selecting(() => ({ id: "the-session", cwd: sub, entries: [] })), looking];
  return { there, sub, told, loaded: await loadIn(here, { official, mode: askedWith("content") }) };
}

test("a session from elsewhere moves the working directory, and trust is settled for that place", async () => {
  const here = await trap();
  await store(here, { bound: "folder", decision: "trusted" });
  const { there, sub, loaded } = await openElsewhere(here);
  expect(marks(here)).toEqual([]);
  expect(loaded.report).toMatchObject({ cwd: sub, boundary: there.path, decidedBy: "prompt" });
  expect([loaded.host.cwd, loaded.agent.sessionId]).toEqual([sub, "the-session"]);
});

test("a session from elsewhere moves what handlers and tools are told too", async () => {
  const { sub, told } = await openElsewhere(await project());
  expect(told).toEqual([sub]);
});

test("F011: what an extension of the person's does wrong later is told with its file", async () => {
  const at = await project({
    agentFiles: {
      "extensions/x.ts": `export default (pi) => pi.on("session_start", async () => { throw new Error("later"); });`,
    },
  });
  const { agent } = await loadIn(at);
  const told: unknown[] = [];
  agent.on("extension_error", (event) => void told.push(event));
  await agent.dispatch("session_start", { reason: "startup" });
  const path = join(at.agentDir, "extensions", "x.ts");
  expect(told).toMatchObject([{ owner: path, extensionPath: path, event: "session_start", error: "later" }]);
});

test("flags are settled after user scope has registered its own", async () => {
  const at = await project({
    agentFiles: {
      "extensions/f.ts": `export default (pi) => pi.registerFlag("plan", { type: "boolean", short: "P" });`,
    },
  });
  const { host } = await loadIn(at, { flags: { values: new Map([["P", undefined]]) } });
  expect([...host.flags]).toEqual([["plan", true]]);
  const seen: string[] = [];
  await loadIn(at, {
    flags: {
      values(registered) {
        seen.push(...registered.keys());
        return new Map();
      },
    },
  });
  expect(seen).toEqual(["plan"]);
});

test("the reports of a load name what was wrong in the person's files", async () => {
  const at = await project({
    agentFiles: { "settings.json": `{ "theme": 3,\n  broken`, "trust.json": "{" },
    files: { ".pi/prompts/p.md": "" },
  });
  const { report } = await loadIn(at);
  expect(report.problems.map(({ message }) => message)).toEqual([
    expect.stringContaining(`${join(at.agentDir, "settings.json")}:2:`),
    expect.stringContaining(join(at.agentDir, "trust.json")),
  ]);
  for (const { hint } of report.problems) expect(hint).toBeTruthy();
});

test("a start without extension files and project resources imports nothing but Node's own modules, and ends by itself", async () => {
  const at = await project({ files: { "AGENTS.md": "words" } });
  const script = `
    import { registerHooks } from "node:module";
    import { load } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)};
    const seen = [];
    registerHooks({ resolve(specifier, context, next) { const found = next(specifier, context); seen.push(found.url); return found; } });
    const loaded = await load({ cwd: ${JSON.stringify(at.path)}, env: { HOME: ${JSON.stringify(at.home)} } });
    await loaded.dispose();
    process.stdout.write(JSON.stringify(seen.filter((url) => !url.startsWith("node:"))));`;
  const args = ["--conditions", "@pi-agent/source", "--input-type=module", "--eval", script];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: at.path });
  expect([stdout, stderr]).toEqual(["[]", ""]);
});

test("the boundary that the report names is the one that anybody else finds", async () => {
  const at = await trap();
  expect((await loadIn(at)).report.boundary).toBe(findBoundary(at.path));
});

test("a mode that cannot ask is asked nothing", async () => {
  const at = await trap();
  const mode: LoadMode = { ...PRINT, hasUI: true };
  expect((await loadIn(at, { mode })).report.decidedBy).toBe("nobody");
});

test("E2: a -e outside the project that is refused ends the start", async () => {
  const [at, outside] = [await project(), await project()];
  makePipe(join(outside.path, "pipe.ts"));
  for (const path of [join(outside.path, "pipe.ts"), "/dev/zero"]) {
    const start = load({ cwd: at.path, env: envOf(at), mode: PRINT, flags: { extensions: [path] } });
    await expect(start).rejects.toMatchObject({ code: "extension_refused", message: expect.stringContaining(path) });
  }
});

test("T4: a session that leads into another project is told, and --approve does not speak for that one", async () => {
  const [here, there] = [await project(), await trap()];
  const official = [selecting(() => ({ id: "s", cwd: there.path, entries: [] }))];
  const { report } = await loadIn(here, { official, flags: { approve: true } });
  expect(marks(there)).toEqual([]);
  expect(report).toMatchObject({ boundary: there.path, decision: "untrusted", decidedBy: "nobody" });
  const [problem, ...others] = report.problems;
  expect([problem?.code, others]).toEqual(["session_moved", []]);
  expect(problem?.message).toMatch(/^[^\n]*--approve does not speak for that project[^\n]*$/);
  for (const folder of [here.path, there.path]) expect(problem?.message).toContain(folder);
});

test("a session of the same project that moves the folder is told, and --approve holds", async () => {
  const here = await trap({ "sub/x": "" });
  const official = [selecting(() => ({ id: "s", cwd: join(here.path, "sub"), entries: [] }))];
  const { report } = await loadIn(here, { official, flags: { approve: true } });
  expect(report).toMatchObject({ decision: "trusted", decidedBy: "flag" });
  expect(report.problems[0]?.message).not.toContain("--approve");
  expect(report.problems[0]).toMatchObject({ code: "session_moved" });
});

test("a program that an extension starts gets no provider's key", async () => {
  const at = await project();
  const env = { ...envOf(at), LOADER_TEST_KEY: "sk-secret", LOADER_TEST_OTHER: "kept" };
  const provider: ExtensionEntry = {
    owner: { name: "provider", scope: "official" },
    extension: (pi) => void pi.registerProvider({ id: "p", api: "p-api", models: [], env: ["LOADER_TEST_KEY"] }),
  };
  const { host } = await loadIn(at, { official: [provider], env });
  const script = "[process.env.LOADER_TEST_KEY, process.env.LOADER_TEST_OTHER].join()";
  expect((await host.exec(process.execPath, ["-p", script])).stdout).toBe(",kept\n");
});
