import { expect, test } from "vitest";
import { loadIn, project } from "./loading.ts";

const NOTES = `export default (pi) => pi.register("settings", "notes", {
  type: "object",
  properties: { max: { type: "integer", default: 3, "x-project": "allow" } },
});`;

test("what an extension registers as its settings is held to its schema at the load, with file and key", async () => {
  const agentFiles = { "settings.json": '{\n  "notes": { "max": "many" }\n}', "extensions/notes.ts": NOTES };
  const { host, report } = await loadIn(await project({ agentFiles }));
  expect(report.problems.map(({ message }) => message)).toEqual([
    expect.stringMatching(/settings\.json:2:\d+: "notes\.max" does not fit: expected an integer, found a string\.$/),
  ]);
  expect(host.settings.get("notes.max")).toBe(3);
});

test("without the extension the same key is one that nothing knows", async () => {
  const { report } = await loadIn(await project({ agentFiles: { "settings.json": '{ "notes": { "max": 1 } }' } }));
  expect(report.problems.map(({ message }) => message)).toEqual([
    expect.stringContaining('Nothing here knows the setting "notes".'),
  ]);
});

test("a project's value of a registered key is in force as the schema says", async () => {
  const agentFiles = { "extensions/notes.ts": NOTES };
  const at = await project({ agentFiles, files: { ".pi/settings.json": '{ "notes": { "max": 9, "other": 1 } }' } });
  const { host, report } = await loadIn(at, { flags: { approve: true } });
  expect(host.settings.get("notes")).toEqual({ max: 9 });
  expect(report.problems.map(({ code }) => code)).toEqual(["setting_withheld"]);
});
