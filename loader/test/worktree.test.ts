import { execFileSync } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { cp, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { TempProject } from "../../test/kit/src/index.ts";
import { findBoundary } from "../src/places.ts";
import { recordPath } from "../src/trust-store.ts";
import { findTwins } from "../src/worktree.ts";
import { makePipe, project } from "./loading.ts";

function git(at: TempProject, ...args: string[]): void {
  const env = { PATH: process.env.PATH, HOME: at.home, GIT_CONFIG_NOSYSTEM: "1" };
  execFileSync("git", args, { cwd: at.path, env, stdio: "ignore" });
}

/** A repository with two linked worktrees beside it. */
async function repository() {
  const at = await project({ git: true, files: { "sub/x": "" } });
  const [one, two] = ["wt1", "wt2"].map((name) => join(dirname(at.path), name)) as [string, string];
  for (const path of [one, two]) git(at, "worktree", "add", "--quiet", "--detach", path);
  return { at, main: at.path, one, two, known: [at.path, one, two, at.home] };
}

test("T1, F040: a worktree's twins are the main one and the other linked ones that were decided about", async () => {
  const { main, one, two, known } = await repository();
  expect(findTwins(one, () => known)).toEqual([main, two]);
  expect(findTwins(two, () => known)).toEqual([main, one]);
  expect(findTwins(one, () => [two])).toEqual([two]);
  expect(findTwins(one, () => [one])).toEqual([]);
});

test("F040: from a folder below it and through a link, the worktree is the one with the real path", async () => {
  const { at, main, one, known } = await repository();
  await symlink(one, join(at.home, "link"));
  for (const cwd of [join(one, "sub"), join(at.home, "link"), join(at.home, "link/sub")]) {
    const boundary = findBoundary(cwd);
    expect(boundary).toBe(one);
    expect(findTwins(boundary, () => known)[0]).toBe(main);
    expect(recordPath("/a", boundary)).toBe(recordPath("/a", realpathSync(one)));
  }
});

test("T1: the pointers may be relative, as newer versions of git write them", async () => {
  const { main, one, known } = await repository();
  await writeFile(join(one, ".git"), "gitdir: ../project/.git/worktrees/wt1\n");
  await writeFile(join(main, ".git/worktrees/wt1/gitdir"), "../../../../wt1/.git\n");
  expect(findTwins(one, () => known)[0]).toBe(main);
});

test("T1: a repository without a main worktree has its linked ones", async () => {
  const at = await project({ git: true });
  const bare = join(at.home, "bare.git");
  git(at, "clone", "--quiet", "--bare", at.path, bare);
  const [one, two] = ["b1", "b2"].map((name) => join(at.home, name)) as [string, string];
  for (const path of [one, two]) git(at, "-C", bare, "worktree", "add", "--quiet", "--detach", path);
  expect(findTwins(one, () => [two, at.path, at.home, bare])).toEqual([two]);
});

test("T1: the main worktree and a plain folder are nobody's linked worktree", async () => {
  const { at, main, known } = await repository();
  expect(findTwins(main, () => known)).toEqual([]);
  expect(findTwins(at.home, () => known)).toEqual([]);
  expect(findTwins("/no/such/folder", () => known)).toEqual([]);
  const unread = () => expect.unreachable("nothing needs to be known for them");
  expect([main, at.home].flatMap((folder) => findTwins(folder, unread))).toEqual([]);
});

test("T1: a repository that points at another's worktrees has no twin, whatever it writes into its .git", async () => {
  const { at, main, one, known } = await repository();
  const evil = join(at.home, "evil");
  const admin = join(main, ".git/worktrees");
  await mkdir(evil);
  const texts = [
    `gitdir: ${admin}/wt1\n`,
    `gitdir: ${admin}/wt1`,
    `gitdir: ${admin}/wt1/../wt2\n`,
    `gitdir: ../../project/.git/worktrees/wt1\n`,
    `gitdir: ${admin}/none\n`,
    `gitdir: ${admin}\n`,
    `gitdir: ${main}/.git\n`,
    `gitdir: ${admin}/wt1\ngitdir: ${evil}\n`,
    `gitdir: ${admin}/wt1\0\n`,
    `gitdir: ${"x/".repeat(4_000)}\n`,
    readFileSync(join(one, ".git"), "utf8"),
  ];
  for (const text of texts) {
    await writeFile(join(evil, ".git"), text);
    expect(
      findTwins(evil, () => known),
      text,
    ).toEqual([]);
  }
});

test("T1: a project that was decided about and only claims to be a worktree of the same repository is no twin", async () => {
  const { at, main, one, two } = await repository();
  const claims = join(at.home, "claims");
  await at.write(join(claims, ".git"), readFileSync(join(two, ".git")));
  expect(findTwins(one, () => [claims])).toEqual([]);
  expect(findTwins(one, () => [claims, main])).toEqual([main]);
});

test("T1: a repository that brings its own worktrees folder, with pointers at others, has no twin among them", async () => {
  const { at, main, one, known } = await repository();
  const evil = join(at.home, "evil");
  for (const [name, worktree] of [
    ["evil", evil],
    ["wt1", one],
    ["main", main],
  ] as const) {
    await at.write(join(evil, "fake/.git/worktrees", name, "gitdir"), `${worktree}/.git\n`);
  }
  await writeFile(join(evil, ".git"), `gitdir: ${evil}/fake/.git/worktrees/evil\n`);
  expect(findTwins(evil, () => known)).toEqual([]);
  // Nor through a link of its own to the repository.
  await symlink(join(main, ".git"), join(evil, "linked"));
  await writeFile(join(evil, ".git"), `gitdir: ${evil}/linked/worktrees/wt1\n`);
  expect(findTwins(evil, () => known)).toEqual([]);
});

test("T1: a copy of a worktree, one that was moved, and one whose place was taken are no worktrees", async () => {
  const { at, one, two, known } = await repository();
  const copy = join(at.home, "copy");
  await cp(one, copy, { recursive: true });
  expect(findTwins(copy, () => known)).toEqual([]);
  await rename(one, join(at.home, "moved"));
  expect(findTwins(join(at.home, "moved"), () => known)).toEqual([]);
  await rm(join(two, ".git"));
  await mkdir(join(two, ".git"));
  expect(findTwins(two, () => known)).toEqual([]);
});

test("T1: a submodule is no worktree of what it lies in", async () => {
  const at = await project({ git: true });
  await at.write(".git/modules/sub/gitdir", `${at.path}/sub/.git\n`);
  await at.write("sub/.git", "gitdir: ../.git/modules/sub\n");
  expect(findTwins(join(at.path, "sub"), () => [at.path])).toEqual([]);
});

test.each(["a pipe", "a link", "a folder", "a large file", "no text"])(
  "T1, T5: %s in place of a pointer, on either side, is no proof and is not waited for",
  async (what) => {
    const { at, main, one, known } = await repository();
    for (const path of [join(main, ".git/worktrees/wt1/gitdir"), join(one, ".git")]) {
      const text = readFileSync(path);
      await rename(path, join(at.home, "kept"));
      if (what === "a pipe") makePipe(path);
      if (what === "a link") await symlink(join(at.home, "kept"), path);
      if (what === "a folder") await mkdir(path);
      if (what === "a large file") await writeFile(path, Buffer.concat([text, Buffer.alloc(5_000, "\n")]));
      if (what === "no text") await writeFile(path, Buffer.from([0xff, 0x00, 0xfe]));
      expect(findTwins(one, () => known)).toEqual([]);
      await rm(path, { recursive: true });
      await rename(join(at.home, "kept"), path);
      expect(findTwins(one, () => known)[0]).toBe(main);
    }
  },
);
