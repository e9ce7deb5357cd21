import {
  chmodSync,
  chownSync,
  mkdirSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findContextFile } from "../src/context-files.ts";
import { type FileView, ProjectView } from "../src/file-view.ts";
import { askedWith, loadIn, makePipe, planOf, project, verdicts } from "./loading.ts";

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** What became of each context file, by path below the boundary. */
async function contextOf(at: Awaited<ReturnType<typeof project>>, cwd = at.path): Promise<Record<string, string>> {
  const plan = await planOf(at, { cwd });
  return Object.fromEntries(
    Object.entries(verdicts(plan)).map(([id, verdict]) => [id.replace("context-file:", ""), verdict]),
  );
}

test("F038: context files are those from the working directory up to the boundary, and none above or below", async () => {
  const files = {
    "AGENTS.md": "above",
    "repo/.git/x": "",
    "repo/AGENTS.md": "",
    "repo/a/CLAUDE.md": "",
    "repo/a/b/AGENTS.md": "",
    "repo/a/b/c/AGENTS.md": "below",
    "repo/beside/AGENTS.md": "",
  };
  const at = await project({ files });
  expect(Object.keys(await contextOf(at, join(at.path, "repo/a/b")))).toEqual([
    "AGENTS.md",
    "a/CLAUDE.md",
    "a/b/AGENTS.md",
  ]);
});

test("F038: AGENTS.override.md stands for its folder alone, and one that cannot be used gives way, visibly", async () => {
  const at = await project({
    files: { ".git/x": "", "AGENTS.md": "", "a/AGENTS.override.md": "", "a/AGENTS.md": "", "a/CLAUDE.md": "" },
  });
  const cwd = join(at.path, "a");
  expect(await contextOf(at, cwd)).toEqual({ "AGENTS.md": "loaded", "a/AGENTS.override.md": "loaded" });
  chmodSync(join(cwd, "AGENTS.override.md"), 0o666);
  expect(await contextOf(at, cwd)).toEqual({
    "AGENTS.md": "loaded",
    "a/AGENTS.override.md": "refused: may be written by everyone",
    "a/AGENTS.md": "loaded",
  });
});

test.each<[string, (path: string) => void, string]>([
  ["a pipe", makePipe, "is not a regular file"],
  ["a folder", (path) => mkdirSync(path), "is a folder"],
  ["a device behind a link", (path) => symlinkSync("/dev/zero", path), "is a link"],
  ["a link that leads nowhere", (path) => symlinkSync("/nowhere", path), "is a link"],
  ["a sparse file of 1 GB", (path) => (writeFileSync(path, ""), truncateSync(path, 2 ** 30)), "is larger than 1 MB"],
])("F038: an AGENTS.md that is %s is passed over, and the start goes on", async (_name, make, reason) => {
  const at = await project();
  make(join(at.path, "AGENTS.md"));
  expect(await contextOf(at)).toEqual({ "AGENTS.md": `refused: ${reason}` });
  const own = await project();
  make(join(own.agentDir, "AGENTS.md"));
  const { host } = await loadIn(own);
  expect(host.resources.list("context-file")).toEqual([]);
});

test.runIf(isRoot)("F038: an AGENTS.md that cannot be read is passed over, with the reason", async () => {
  const at = await project({ files: { "AGENTS.md": "" } });
  chownSync(join(at.path, "AGENTS.md"), NOBODY, NOBODY);
  chmodSync(join(at.path, "AGENTS.md"), 0o000);
  chmodSync(join(at.path, ".."), 0o755);
  process.seteuid!(NOBODY);
  try {
    expect(findContextFile(new ProjectView(), at.path)).toMatchObject([{ refusal: "cannot be read (EACCES)" }]);
  } finally {
    process.seteuid!(0);
  }
});

test.runIf(isRoot)(
  "F038: what a stranger plants in a shared folder above steers nobody, be there a .git or not",
  async () => {
    const at = await project({ files: { "job/plain/x": "", "job/repo/.git/x": "" } });
    chmodSync(at.path, 0o1777);
    chownSync(at.path, 0, 0);
    for (const name of ["AGENTS.md", "CLAUDE.md"]) writeFileSync(join(at.path, name), "planted");
    for (const name of ["AGENTS.md", "CLAUDE.md"]) chownSync(join(at.path, name), NOBODY, NOBODY);
    const [plain, repo] = [join(at.path, "job/plain"), join(at.path, "job/repo")];
    expect([await contextOf(at, plain), await contextOf(at, repo)]).toEqual([{}, {}]);
    mkdirSync(join(at.path, ".git"));
    chownSync(join(at.path, ".git"), NOBODY, NOBODY);
    await at.write(".pi/settings.json", '{ "theme": "dark" }');
    await at.write(".pi/SYSTEM.md", "planted");
    const { host, report } = await loadIn(at, { cwd: plain });
    expect(host.resources.list("context-file")).toEqual([]);
    expect([host.resources.list("system-prompt"), host.settings.get("theme")]).toEqual([[], "system"]);
    expect(report.plan.items.filter(({ verdict }) => verdict === "loaded")).toEqual([]);
    expect(Object.values(verdicts(report.plan))).toContain("refused: belongs to another user");
  },
);

test("F038: a file that takes another's place while it is read is not used, whosever it is then", async () => {
  const at = await project({ files: { "AGENTS.md": "mine", "planted.md": "planted" } });
  const path = join(at.path, "AGENTS.md");
  const real = new ProjectView();
  const swapped: FileView = {
    kindOf: (each) => real.kindOf(each),
    list: (folder) => real.list(folder),
    assertTimeLeft: () => {},
    read(each, maxBytes) {
      renameSync(path, `${path}.mine`);
      renameSync(join(at.path, "planted.md"), path);
      const bytes = real.read(each, maxBytes);
      renameSync(path, join(at.path, "planted.md"));
      renameSync(`${path}.mine`, path);
      return bytes;
    },
  };
  expect(statSync(path).isFile()).toBe(true);
  expect(findContextFile(swapped, at.path)).toMatchObject([{ path, refusal: "changed while it was read" }]);
});

test('T7, F038: with contextFiles "trusted" they wait, and come with the texts', async () => {
  const agentFiles = { "settings.json": '{ "contextFiles": "trusted" }', "AGENTS.md": "own" };
  const at = await project({ files: { "AGENTS.md": "project" }, agentFiles });
  const texts = async (answer: string) => {
    const { host } = await loadIn(at, { mode: askedWith(answer) });
    return host.resources.list("context-file").map((each) => each.text());
  };
  expect(await texts("not-now")).toEqual(["own"]);
  expect(await texts("text")).toEqual(["own", "project"]);
});

test("T4: a project cannot say of its context files that they do not wait", async () => {
  const files = { "AGENTS.md": "project", ".pi/settings.json": '{ "contextFiles": "always" }' };
  const at = await project({ files, agentFiles: { "settings.json": '{ "contextFiles": "never" }' } });
  const { host } = await loadIn(at, { flags: { approve: true } });
  expect(host.resources.list("context-file")).toEqual([]);
});
