import { linkSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findProtection } from "../src/protected-files.ts";
import { placesOf, project } from "./loading.ts";

type Loaded = { path: string; kind: string }[];

/** Says what is protected about paths, which start from the project. */
function look(at: Awaited<ReturnType<typeof project>>, { loaded = [] as Loaded, cwd = at.path } = {}) {
  const places = placesOf(at, cwd);
  return (path: string) => findProtection(join(at.path, path), { places, loaded }).what;
}

test("E9: nothing of a plain project is protected, and all of the agent's folder is", async () => {
  const at = await project({ files: { "a.ts": "" } });
  const what = look(at);
  expect(["a.ts", "new/b.ts", ".", "pi/x", "x.pi/y"].map(what)).toEqual(Array(5).fill(undefined));
  expect([what("../home/.pi/agent/auth.json"), what("../home/.pi/agent/new/x")]).toEqual([
    "holds your keys",
    "belongs to the agent's own folder",
  ]);
  expect([what("../home"), what("../home/.pi"), what("/../../..")]).toEqual([
    "holds files of the agent's own",
    "holds files of the agent's own",
    "holds files of the agent's own",
  ]);
  expect(what("../home/other")).toBeUndefined();
});

test("E9: what is loaded as the person's own is protected with its folder, and alone where that folder holds the project", async () => {
  const at = await project();
  const loaded = [
    { path: join(at.home, "tool/index.ts"), kind: "extension" },
    { path: join(at.path, "../index.ts"), kind: "extension" },
    { path: join(at.home, "one.ts"), kind: "extension" },
  ];
  const what = look(at, { loaded });
  const own = "is loaded as your own extension";
  expect(["../home/tool/lib/a.ts", "../index.ts", "../home/one.ts"].map(what)).toEqual([own, own, own]);
  expect(["../other.ts", "a.ts", "../home/two.ts"].map(what)).toEqual([undefined, undefined, undefined]);
});

test("E9: a link of the agent's folder to the very project that is worked on protects nothing of it", async () => {
  const at = await project({ agentFiles: { "extensions/.keep": "" } });
  symlinkSync(at.path, join(at.agentDir, "extensions/mine"));
  expect(look(at)("index.ts")).toBeUndefined();
  mkdirSync(join(at.path, "inner"));
  expect(look(at, { cwd: join(at.path, "inner") })("inner/index.ts")).toBeUndefined();
});

test("E9: a file with a second name is protected where that name is, and where there are too many to tell", async () => {
  const at = await project({ files: { "a.ts": "" }, agentFiles: { "prompts/x.md": "" } });
  linkSync(join(at.path, "a.ts"), join(at.path, "b.ts"));
  expect(look(at)("a.ts")).toBeUndefined();
  linkSync(join(at.path, "a.ts"), join(at.agentDir, "prompts/y.md"));
  expect(look(at)("a.ts")).toBe("is a second name of a file that is not written unasked");
  const places = placesOf(await project());
  const few = { places, loaded: [], maxEntries: 1 };
  expect(findProtection(join(at.path, "b.ts"), few).what).toBe(
    "has a second name, and there are too many files to find out which",
  );
});

test("E9: links in a circle cannot be told", async () => {
  const at = await project();
  symlinkSync("b", join(at.path, "a"));
  symlinkSync("a", join(at.path, "b"));
  expect(() => look(at)("a/x")).toThrow("lead in a circle");
});
