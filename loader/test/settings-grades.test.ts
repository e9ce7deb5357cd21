import { expect, test } from "vitest";
import type { TrustAnswer } from "../src/options.ts";
import { addNamespaces } from "../src/settings-namespaces.ts";
import { SETTINGS_SCHEMA, type SettingSchema } from "../src/settings-schema.ts";
import { canaryOf, leaves, nest, ungraded } from "./graded-settings.ts";
import { askedWith, loadIn, project } from "./loading.ts";

const KEYS = leaves(SETTINGS_SCHEMA);
const CANARIES = JSON.stringify(nest(KEYS.map(([key, schema]) => [key, canaryOf(schema)])));
// What an extension registers has its keys graded too; one that forgot gives a project nothing.
const EXTENSION = `export default (pi) => pi.register("settings", "notes", {
  type: "object",
  properties: {
    open: { type: "integer", default: 3, "x-project": "allow" },
    asked: { type: "integer", default: 3, "x-project": "consent" },
    own: { type: "integer", default: 3, "x-project": "never" },
    forgotten: { type: "integer", default: 3 },
    headers: { type: "object", properties: { a: { type: "integer", default: 3, "x-project": "allow" } } },
    deep: { type: "object", properties: { forgotten: { type: "integer", default: 3 } } },
  },
});`;
const NOTES = { open: 9, asked: 9, own: 9, forgotten: 9, headers: { a: 9 }, deep: { forgotten: 9 } };
const WITH_NOTES = JSON.stringify({ ...JSON.parse(CANARIES), notes: NOTES });

test("every key says what a project may do to it, and one that does not is found", () => {
  expect(KEYS.length).toBeGreaterThan(80);
  expect(ungraded(SETTINGS_SCHEMA)).toEqual([]);
  const more: SettingSchema = {
    type: "object",
    properties: {
      ...SETTINGS_SCHEMA.properties,
      loose: { type: "string" },
      group: { type: "object", properties: { a: { type: "string", "x-project": "allow" }, b: { type: "string" } } },
      odd: { type: "string", "x-project": "maybe" as never },
      vague: { type: "number", "x-project": "tighten" },
      mixed: { type: "number", "x-project": "allow", "x-tighten": "lower" },
    },
  };
  expect(ungraded(more)).toEqual(["loose", "group.b", "odd", "vague", "mixed"]);
});

test.each<[string, TrustAnswer | undefined]>([
  ["nobody is asked about", undefined],
  ["the person says not now to", "not-now"],
  ["the person says never to", "never"],
  ["the person lets only texts of load", "text"],
])("F028, attack 11: no key of the settings of a project that %s has any effect", async (_name, answer) => {
  const at = await project({
    files: { ".pi/settings.json": WITH_NOTES },
    agentFiles: { "extensions/notes.ts": EXTENSION },
  });
  const bare = await project({ agentFiles: { "extensions/notes.ts": EXTENSION } });
  const { host, report } = await loadIn(at, answer === undefined ? {} : { mode: askedWith(answer) });
  const { settings } = (await loadIn(bare)).host;
  expect(report.plan.items.find(({ kind }) => kind === "settings")?.verdict).toBe("held");
  for (const key of [...KEYS.map(([name]) => name), ...Object.keys(NOTES).map((name) => `notes.${name}`)]) {
    expect(host.settings.get(key), key).toEqual(settings.get(key));
    expect(host.settings.projectValue(key), key).toBeUndefined();
  }
});

test("attack 3, attack 11: of a trusted project a key has the effect that its grade allows, and no other", async () => {
  const at = await project({
    files: { ".pi/settings.json": WITH_NOTES },
    agentFiles: { "extensions/notes.ts": EXTENSION },
  });
  const { host, report } = await loadIn(at, { mode: askedWith("content") });
  const { settings } = host;
  const told = report.problems.map(({ message }) => message).join("\n");
  for (const [key, schema] of KEYS) {
    const { "x-project": grade } = schema;
    const own = settings.userValue(key);
    if (grade === "never") expect(settings.get(key), key).toEqual(own);
    if (grade === "allow" || grade === "consent") expect(settings.projectValue(key), key).toEqual(canaryOf(schema));
    if (grade === "never") expect(told).toContain(`The project's setting ${key} is not in force: it is yours alone`);
  }
  expect(settings.get("defaultTools")).toEqual([]);
  expect(settings.get("notes")).toEqual({
    open: 9,
    asked: 9,
    own: 3,
    forgotten: 3,
    headers: { a: 3 },
    deep: { forgotten: 3 },
  });
});

test("attack 11: a namespace of an extension cannot give a project a key that nobody may have", () => {
  const greedy = { type: "object", properties: { url: { type: "string", "x-project": "allow" } } };
  const names = ["env", "headers", "httpProxy", "apiKeys", "registries", "defaultProjectTrust", "sessionDir"];
  const registered = names.map((name) => ({ name, value: greedy, owner: { name: "greedy", scope: "user" } }) as never);
  const schema = addNamespaces(SETTINGS_SCHEMA, registered);
  for (const name of ["httpProxy", "defaultProjectTrust", "sessionDir"]) {
    expect(schema.properties?.[name]).toBe(SETTINGS_SCHEMA.properties?.[name]);
  }
});

test.each([
  ["no limit at all where the person has one", 60, 0, 60],
  ["a limit where the person has none", 0, 30, 30],
  ["no limit at all where nobody said anything", undefined, 0, undefined],
])("attack 11: 0 stands for no limit: %s", async (_name, own, asked, expected) => {
  const agentFiles = { "settings.json": JSON.stringify({ bash: { timeoutSeconds: own } }) };
  const files = { ".pi/settings.json": JSON.stringify({ bash: { timeoutSeconds: asked } }) };
  const { host } = await loadIn(await project({ agentFiles, files }), { flags: { approve: true } });
  expect(host.settings.get("bash.timeoutSeconds")).toBe(expected);
});

test("what a project's broken settings file says is told with line and column, and none of it is in force", async () => {
  const files = { ".pi/settings.json": '{\n  "theme": "dark",\n  "skills": [}\n' };
  const { host, report } = await loadIn(await project({ files }), { flags: { approve: true } });
  expect(report.problems.map(({ message }) => message)).toEqual([
    expect.stringMatching(/\.pi\/settings\.json:3:14: It is not valid JSON: expected a value, found "}"\.$/),
  ]);
  expect(host.settings.get("theme")).toBe("system");
});

test("a crowd of keys that nothing knows is told in short", async () => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`unknown${n}`, n]));
  const at = await project({ agentFiles: { "settings.json": JSON.stringify(many) } });
  const { report } = await loadIn(at);
  expect(report.problems).toHaveLength(51);
  expect(report.problems.at(-1)?.message).toContain("19950 more settings");
});
