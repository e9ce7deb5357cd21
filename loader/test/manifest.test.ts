import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ProjectView, SCAN_LIMITS } from "../src/file-view.ts";
import { findEscape, readManifest, resolveList } from "../src/manifest.ts";
import { project } from "./loading.ts";

test.each([
  "../outside.ts",
  "./a/../../outside.ts",
  "/etc/passwd",
  "file:///etc/passwd",
  "C:\\windows\\x.ts",
  "..\\outside.ts",
  "a\0.ts",
])("T5: a manifest path that leaves the package is refused: %j", (entry) => {
  expect(findEscape(entry)).toBeDefined();
});

test.each(["index.ts", "./dist/index.js", "a/../b.ts", "with space.ts", "%2e%2e/x.ts"])(
  "a manifest path below the package is accepted: %j",
  (entry) => {
    expect(findEscape(entry)).toBeUndefined();
  },
);

test("globs are expanded, exclusions taken away, and what leaves is named as written", async () => {
  const files = { "a.ts": "", "b.ts": "", "lib/c.ts": "", "lib/.hidden.ts": "", "node_modules/x/d.ts": "" };
  const at = await project({ files });
  const found = resolveList(new ProjectView(), at.path, ["./*.ts", "lib/*.ts", "!b.ts", "../x.ts", "none.ts"]);
  expect(found.paths.map((path) => path.slice(at.path.length + 1))).toEqual(["a.ts", "lib/c.ts"]);
  expect(found.refused).toEqual([{ entry: "../x.ts", reason: "leaves the package" }]);
});

test("a manifest's lists and requirements are read; what is no list of strings is left out", async () => {
  const pi = { extensions: ["./x.ts"], skills: [1], requires: { sessions: "@pi-agent/sessions", odd: 3 } };
  const at = await project({ files: { "package.json": `\uFEFF${JSON.stringify({ pi })}` } });
  expect(readManifest(new ProjectView(), at.path)).toEqual({
    extensions: ["./x.ts"],
    requires: { sessions: "@pi-agent/sessions" },
  });
});

test("T5: a package.json that is a link is refused as such", async () => {
  const at = await project({ files: { "real.json": "{}" } });
  await symlink(join(at.path, "real.json"), join(at.path, "package.json"));
  expect(() => readManifest(new ProjectView(), at.path)).toThrow("has a package.json that is a link");
});

test.each(["{", "[]", "null", ""])("a package.json that holds %j is refused with the reason", async (text) => {
  const at = await project({ files: { "package.json": text } });
  expect(() => readManifest(new ProjectView(), at.path)).toThrow("no valid JSON object");
});

test("T5: a manifest that lists more than can be matched is refused", async () => {
  const at = await project({ files: { "a.ts": "" } });
  const list = (entries: string[]) => () => resolveList(new ProjectView(), at.path, entries);
  expect(list(Array.from({ length: 40_000 }, () => "!*a"))).toThrow("lists more than 200 entries");
  expect(list([`*${"a".repeat(200)}`])).toThrow("a pattern of more than 200 characters");
});

test("T5: matching ends with the time that a scan may take", async () => {
  const at = await project({ files: { "a.ts": "" } });
  const view = new ProjectView({ ...SCAN_LIMITS, deadlineMs: -1 });
  expect(() => resolveList(view, at.path, ["a.ts", "!*.js"])).toThrow("that a scan may take");
});
