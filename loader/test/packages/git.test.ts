import { existsSync } from "node:fs";
import { readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  findNewer,
  installAll,
  installPackage,
  listPackages,
  removePackage,
  turnResource,
  updatePackages,
} from "../../src/packages/index.ts";
import { temporaryFolder } from "./folders.ts";
import { packageHome, readTree } from "./home.ts";
import { repository } from "./repository.ts";

const MANIFEST = { "package.json": '{"name":"from-git","version":"1.0.0"}', "extensions/x.ts": "1" };

test("F013: a branch moves with an update; a tag and a commit stay and are told to be pinned", async () => {
  const repo = await repository();
  const first = await repo.commit(MANIFEST);
  repo.git("tag", "v1");
  repo.git("branch", "dev");
  const refs = [`@dev`, `@v1`, `@${first}`, `@${first.slice(0, 10)}`];
  for (const ref of refs) {
    const at = await packageHome();
    await installPackage(at.context, `git:${repo.url}${ref}`, { cwd: at.home });
    repo.git("checkout", "-q", "dev");
    const moved = await repo.commit({ "extensions/x.ts": `from ${ref}` });
    const { updates } = await updatePackages(at.context, { cwd: at.home });
    const [installed] = await listPackages(at.context);
    const isBranch = ref === "@dev";
    expect(updates).toMatchObject([{ status: isBranch ? "update" : "pinned" }]);
    expect(installed).toMatchObject({ state: "ok", commit: isBranch ? moved : first });
  }
});

test("F013: a name that is a branch and a tag is told, not guessed; a full name says which", async () => {
  const repo = await repository();
  const first = await repo.commit(MANIFEST);
  repo.git("tag", "both");
  await repo.commit({ "extensions/x.ts": "2" });
  repo.git("branch", "both");
  const at = await packageHome();
  await expect(installPackage(at.context, `git:${repo.url}@both`, { cwd: at.home })).rejects.toMatchObject({
    code: "package_not_found",
    hint: expect.stringContaining("refs/tags/both"),
  });
  await installPackage(at.context, `git:${repo.url}@refs/tags/both`, { cwd: at.home });
  expect(await listPackages(at.context)).toMatchObject([{ commit: first }]);
});

test("F014: another ref is another commit every time, in one entry; a ref that is not there fails loudly", async () => {
  const repo = await repository();
  const main = await repo.commit(MANIFEST);
  repo.git("checkout", "-q", "-b", "feat/x");
  const feature = await repo.commit({ "extensions/x.ts": "feature" });
  repo.git("tag", "-a", "annotated", "-m", "t");
  repo.git("checkout", "-q", "main");
  const at = await packageHome();
  for (const [ref, commit] of [
    ["@feat/x", feature],
    ["@main", main],
    ["", main],
    [`@${feature}`, feature],
    ["@annotated", feature],
  ]) {
    const { folder } = await installPackage(at.context, `git:${repo.url}${ref}`, { cwd: at.home });
    expect(await listPackages(at.context)).toMatchObject([{ commit, state: "ok", folder }]);
    expect(await at.settings()).toEqual({ packages: [`git:${repo.url}${ref}`] });
  }
  await expect(installPackage(at.context, `git:${repo.url}@none`, { cwd: at.home })).rejects.toMatchObject({
    code: "package_not_found",
  });
  repo.git("checkout", "-q", "feat/x");
  repo.git("commit", "-q", "--amend", "-m", "forced", "--allow-empty");
  const forced = repo.git("rev-parse", "HEAD").trim();
  await turnResource(at.context, {
    identity: `git:${repo.url.slice(0, -4)}`,
    list: "extensions",
    path: "extensions/x.ts",
    on: false,
  });
  const { folder } = await installPackage(at.context, `git:${repo.url}@feat/x`, { cwd: at.home });
  expect(await listPackages(at.context)).toMatchObject([{ commit: forced, state: "disabled" }]);
  // What somebody changed by hand is told, and is as it was after the next install.
  await writeFile(join(folder, "extensions/x.ts"), "by hand");
  expect(await listPackages(at.context)).toMatchObject([{ state: "changed" }]);
  expect(await installPackage(at.context, `git:${repo.url}`, { cwd: at.home })).toMatchObject({ status: "installed" });
  expect(await listPackages(at.context)).toMatchObject([{ commit: forced, state: "disabled" }]);
  expect(await at.settings()).toEqual({ packages: [{ source: `git:${repo.url}`, extensions: ["-extensions/x.ts"] }] });
  await installPackage(at.context, `git:${repo.url}@feat/x`, { cwd: at.home });
  expect(await readFile(join(folder, "extensions/x.ts"), "utf8")).toBe("feature");
});

test("a range chooses the highest tag in it", async () => {
  const repo = await repository();
  await repo.commit(MANIFEST);
  repo.git("tag", "v1.0.0");
  const wanted = await repo.commit({ "extensions/x.ts": "2" });
  repo.git("tag", "v1.4.0");
  await repo.commit({ "extensions/x.ts": "3" });
  repo.git("tag", "v2.0.0");
  const at = await packageHome();
  await installPackage(at.context, `git:${repo.url}#semver:^1`, { cwd: at.home });
  const found = await listPackages(at.context);
  expect(found).toMatchObject([{ commit: wanted }]);
  expect(await findNewer(at.context, found)).toMatchObject([{ wanted }]);
  // Pi knows no ranges of tags.
  expect(await at.settings()).toEqual({ piAgent: { packages: [`git:${repo.url}#semver:^1`] } });
});

test("F023: two packages of one repository are two packages", async () => {
  const repo = await repository();
  const first = await repo.commit({ "a/extensions/x.ts": "a", "b/extensions/x.ts": "b" });
  const at = await packageHome();
  for (const name of ["a", "b"])
    await installPackage(at.context, `git:${repo.url}#${first}::path:${name}`, { cwd: at.home });
  const read = async () => {
    const packages = await listPackages(at.context);
    return Promise.all(packages.map(({ folder }) => readFile(join(folder!, "extensions/x.ts"), "utf8")));
  };
  expect(await read()).toEqual(["a", "b"]);
  const second = await repo.commit({ "a/extensions/x.ts": "a2", "b/extensions/x.ts": "b2" });
  await installPackage(at.context, `git:${repo.url}#${second}::path:b`, { cwd: at.home });
  expect(await read()).toEqual(["a", "b2"]);
  await removePackage(at.context, `git:${repo.url}#path:a`, { cwd: at.home });
  expect(await read()).toEqual(["b2"]);
});

test("P3: a locked commit is installed again on an empty machine, and offline from the cache", async () => {
  const repo = await repository();
  await repo.commit(MANIFEST);
  const at = await packageHome();
  const { folder } = await installPackage(at.context, `git:${repo.url}@main`, { cwd: at.home });
  const before = await readTree(folder);
  await repo.commit({ "extensions/x.ts": "2" });
  await rm(join(at.agentDir, "packages"), { recursive: true });
  await rm(join(at.agentDir, "cache"), { recursive: true });
  await installAll(at.context, { isFrozen: true });
  expect(await readTree(folder)).toEqual(before);
  await rm(join(at.agentDir, "packages"), { recursive: true });
  await rm(repo.folder, { recursive: true });
  await installAll({ ...at.context, isOffline: true }, { isFrozen: true });
  expect(await readTree(folder)).toEqual(before);
});

test("F017, attack 6: nothing of a repository runs: no prepare, no hook, no filter; nor what the project's git says", async () => {
  const repo = await repository();
  const marker = join(await temporaryFolder(), "ran");
  const run = `touch ${marker}`;
  await repo.commit({
    ...MANIFEST,
    "package.json": JSON.stringify({
      name: "q",
      version: "1.0.0",
      scripts: { prepare: run, postinstall: run, preinstall: run },
    }),
    ".gitattributes": "*.ts filter=evil diff=evil\n",
    ".gitmodules": '[submodule "s"]\n\tpath = s\n\turl = ext::sh -c touch% /tmp/pi-evil\n',
  });
  const project = await repository();
  for (const [key, value] of [
    ["core.sshCommand", run],
    ["core.fsmonitor", run],
    ["filter.evil.smudge", run],
    ["url.ext::sh.insteadOf", "file://"],
  ]) {
    project.git("config", key!, value!);
  }
  const at = await packageHome();
  at.context.env.GIT_DIR = join(project.folder, ".git");
  const before = process.cwd();
  process.chdir(project.folder);
  try {
    const { preview } = await installPackage(at.context, `git:${repo.url}`, { cwd: project.folder });
    expect(preview?.scripts).toMatchObject([{ name: "q", isAllowed: false }]);
  } finally {
    process.chdir(before);
  }
  expect(existsSync(marker)).toBe(false);
});

test("P8: a link in a repository that leads out is refused; one that stays within is left out", async () => {
  const repo = await repository();
  await repo.commit(MANIFEST);
  await symlink("x.ts", join(repo.folder, "extensions", "alias.ts"));
  await repo.commit({});
  const at = await packageHome();
  const { folder } = await installPackage(at.context, `git:${repo.url}`, { cwd: at.home });
  expect(existsSync(join(folder, "extensions/alias.ts"))).toBe(false);
  await symlink("/etc/passwd", join(repo.folder, "extensions", "out.ts"));
  await repo.commit({});
  await expect(installPackage(at.context, `git:${repo.url}`, { cwd: at.home })).rejects.toMatchObject({
    code: "package_unsafe",
  });
});

test("a repository without a package.json is a package by its folders, named as it is", async () => {
  const repo = await repository();
  await repo.commit({ "skills/s/SKILL.md": "x" });
  const at = await packageHome();
  expect(await installPackage(at.context, `git:${repo.url}`, { cwd: at.home })).toMatchObject({
    name: "repo",
    status: "installed",
  });
});

test("a repository that is not there, and a machine without git, are told in three parts", async () => {
  const at = await packageHome();
  const missing = installPackage(at.context, "git:file:///nowhere/at/all.git", { cwd: at.home });
  await expect(missing).rejects.toMatchObject({
    code: "package_unreachable",
    hint: expect.stringContaining("git ls-remote"),
  });
  const without = { ...at.context, findProgram: () => undefined };
  await expect(installPackage(without, "git:file:///nowhere/at/all.git", { cwd: at.home })).rejects.toMatchObject({
    hint: "Install git.",
  });
});

test("P3: the same commit is the same bytes, whatever the person's git does to line ends and files", async () => {
  const repo = await repository();
  await repo.commit({ ...MANIFEST, "extensions/x.ts": "one\ntwo\n", ".gitattributes": "*.ts filter=loud\n" });
  const plain = await packageHome();
  const odd = await packageHome();
  const mark = join(odd.home, "ran");
  await odd.write(
    ".gitconfig",
    `[core]\n  autocrlf = true\n[filter "loud"]\n  smudge = "tee ${mark}"\n  clean = cat\n`,
  );
  const { folder } = await installPackage(plain.context, `git:${repo.url}`, { cwd: plain.home });
  const other = await installPackage(odd.context, `git:${repo.url}`, { cwd: odd.home });
  expect(await readTree(other.folder)).toEqual(await readTree(folder));
  expect(existsSync(mark)).toBe(false);
});
