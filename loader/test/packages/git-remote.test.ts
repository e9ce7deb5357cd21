import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { installPackage, listPackages, updatePackages, wordPreview } from "../../src/packages/index.ts";
import { temporaryFolder } from "./folders.ts";
import { type GitServer, startGitServer } from "./git-server.ts";
import { type PackageHome, packageHome, readTree } from "./home.ts";
import { repository } from "./repository.ts";

const FILES = { "package.json": '{"name":"from-git","version":"1.0.0"}', "extensions/x.ts": "1" };
const SECRET = "s3cret-pa55";

test("F013, P10: a repository behind a password comes over smart HTTP, and the password is nowhere", async (ctx) => {
  const repo = await repository();
  const first = await repo.commit({ ...FILES, "inner/skills/s/SKILL.md": "s" });
  const server = await startGitServer(dirname(dirname(repo.folder)), `me:${SECRET}`);
  if (!server) return ctx.skip("needs openssl");
  const at = await homeFor(server, `[credential]\n\thelper = store --file ~/.logins\n`);
  await at.write(".logins", `https://me:${SECRET}@${server.url.slice("https://".length)}\n`);
  const told: string[] = [];
  const context = { ...at.context, onProgress: (progress: object) => void told.push(JSON.stringify(progress)) };
  for (const ref of [`@${first.slice(0, 10)}`, "#path:inner", "@main"]) {
    const { preview } = await installPackage(context, `${server.url}/owner/repo.git${ref}`, { cwd: at.home });
    if (preview) told.push(...wordPreview(preview));
  }
  const second = await repo.commit({ "extensions/x.ts": "2" });
  told.push(JSON.stringify(await updatePackages(context, { cwd: at.home })));
  const found = await listPackages(context);
  expect(found).toMatchObject([
    { commit: second, state: "ok" },
    { name: "inner", commit: second, state: "ok" },
  ]);
  expect(server.asked.some(({ authorization }) => authorization !== undefined)).toBe(true);
  await assertNowhere(at, [...told, JSON.stringify(found)]);
});

test("P10: a password in an address is refused before anybody is asked, and is neither printed nor stored", async (ctx) => {
  const repo = await repository();
  await repo.commit(FILES);
  const server = await startGitServer(dirname(dirname(repo.folder)), `me:${SECRET}`);
  if (!server) return ctx.skip("needs openssl");
  const at = await homeFor(server);
  const host = server.url.slice("https://".length);
  const spellings = [
    `https://me:${SECRET}@${host}/owner/repo.git`,
    `https://me:x@${SECRET}@${host}/owner/repo.git@main`,
    `git:https://${SECRET}@${host}/owner/repo`,
    `git+https://me:${SECRET}@${host}/owner/repo#main`,
    `ssh://me:${SECRET}@${host}/owner/repo`,
    `git:me:${SECRET}@${host}/owner/repo`,
  ];
  for (const text of spellings) {
    const thrown = await installPackage(at.context, text, { cwd: at.home }).catch((error: unknown) => error as Error);
    expect(thrown).toMatchObject({ code: "package_source", hint: expect.any(String) });
    await assertNowhere(at, [inspect(thrown)]);
  }
  expect(server.asked).toEqual([]);
  // One that somebody wrote into the settings by hand is told of in the same way.
  const [, text] = spellings;
  await writeFile(join(at.agentDir, "settings.json"), JSON.stringify({ packages: [text] }));
  const [refused] = await listPackages(at.context);
  expect(refused).toMatchObject({ state: "refused", problem: { code: "package_source" } });
  expect(JSON.stringify(refused) + inspect(refused?.problem)).not.toContain(SECRET);
});

test("P10: what git says of an address that the person's own configuration gives a password is told without it", async (ctx) => {
  const repo = await repository();
  await repo.commit(FILES);
  const server = await startGitServer(dirname(dirname(repo.folder)), `me:${SECRET}`);
  if (!server) return ctx.skip("needs openssl");
  const host = server.url.slice("https://".length);
  const at = await homeFor(server, `[url "https://me:wrong-${SECRET}@${host}/"]\n\tinsteadOf = ${server.url}/\n`);
  const thrown = await installPackage(at.context, `${server.url}/owner/repo.git`, { cwd: at.home }).catch(
    (error: unknown) => error as Error,
  );
  expect(thrown).toMatchObject({ code: "package_unreachable", hint: expect.stringContaining("git ls-remote") });
  await assertNowhere(at, [inspect(thrown)]);
});

test("P4, F020: a repository whose server never answers is given up, and what is installed is not asked about", async (ctx) => {
  const repo = await repository();
  await repo.commit(FILES);
  const server = await startGitServer(dirname(dirname(repo.folder)));
  if (!server) return ctx.skip("needs openssl");
  const at = await homeFor(server);
  await installPackage(at.context, `${server.url}/owner/repo.git`, { cwd: at.home });
  server.hang();
  server.asked.length = 0;
  expect(await listPackages(at.context)).toMatchObject([{ state: "ok" }]);
  expect(server.asked).toEqual([]);
  const impatient = { ...at.context, requestTimeoutMs: 300 };
  expect(await updatePackages(impatient, { cwd: at.home })).toMatchObject({
    updates: [{ status: "failed", reason: expect.stringContaining("no answer in time") }],
  });
  expect(await listPackages(at.context)).toMatchObject([{ state: "ok" }]);
});

test("P10: over ssh a host and a path are words of one command, and nobody is asked for a password", async () => {
  const repo = await repository();
  const commit = await repo.commit(FILES);
  const at = await packageHome();
  // In place of the program that would reach another machine: it does here what it is told to do there.
  const programs = await temporaryFolder();
  const calls = join(programs, "calls");
  const ssh = join(programs, "ssh");
  await writeFile(ssh, `#!/bin/sh\nprintf '%s\\n' "$*" >> ${calls}\nfor last; do :; done\nexec sh -c "$last"\n`);
  await chmod(ssh, 0o755);
  at.context.env.PATH = `${programs}:${process.env.PATH}`;
  const path = repo.folder.slice(1);
  await installPackage(at.context, `ssh://git@host.example/${path}`, { cwd: at.home });
  expect(await installPackage(at.context, `git@host.example:${path}@main`, { cwd: at.home })).toMatchObject({
    status: "unchanged",
  });
  expect(await listPackages(at.context)).toMatchObject([{ commit, state: "ok" }]);
  expect(await at.settings()).toEqual({ packages: [`git:git@host.example:${path}@main`] });
  const lines = (await readFile(calls, "utf8")).trim().split("\n");
  expect(lines.every((line) => line.includes("BatchMode=yes"))).toBe(true);
  expect(lines[0]).toContain(`git@host.example git-upload-pack '/${path}'`);
  expect(lines.at(-1)).toContain(`git@host.example git-upload-pack '${path}'`);
});

test("F025: a repository comes over a real ssh", async (ctx) => {
  const sshd = findSshd();
  if (sshd === undefined) return ctx.skip("needs sshd");
  const repo = await repository();
  const commit = await repo.commit(FILES);
  const folder = await temporaryFolder();
  const make = (name: string) =>
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, name)], { stdio: "ignore" });
  for (const name of ["host", "person"]) make(name);
  await writeFile(join(folder, "allowed"), await readFile(join(folder, "person.pub")));
  // Where it runs as root it wants this folder, empty.
  const made = await mkdir("/run/sshd", { recursive: true }).catch(() => undefined);
  if (made) onTestFinished(() => rm(made, { recursive: true }));
  const options = ["StrictModes=no", "UsePAM=no", `AuthorizedKeysFile=${join(folder, "allowed")}`];
  const serve = `${sshd} -i -f /dev/null -h ${join(folder, "host")} ${options.map((each) => `-o ${each}`).join(" ")}`;
  const at = await packageHome();
  // The two speak through a pipe, so that no port is needed.
  at.context.env.GIT_SSH_COMMAND = [
    `ssh -F /dev/null -i ${join(folder, "person")} -o BatchMode=yes -o StrictHostKeyChecking=no`,
    `-o UserKnownHostsFile=${join(folder, "known")} -o "ProxyCommand=${serve}"`,
  ].join(" ");
  const user = execFileSync("id", ["-un"], { encoding: "utf8" }).trim();
  await installPackage(at.context, `ssh://${user}@localhost/${repo.folder.slice(1)}@main`, { cwd: at.home });
  expect(await listPackages(at.context)).toMatchObject([{ commit, state: "ok" }]);
});

async function homeFor({ certificate }: GitServer, gitconfig = ""): Promise<PackageHome> {
  const at = await packageHome();
  await at.write(".gitconfig", `[http]\n\tsslCAInfo = ${certificate}\n${gitconfig}`);
  return at;
}

/** Fails when the secret is in what was told, or in any file but those that the person keeps it in. */
async function assertNowhere(at: PackageHome, told: readonly string[]): Promise<void> {
  expect(told.join("\n")).not.toContain(SECRET);
  for (const [path, content] of Object.entries(await readTree(at.agentDir))) {
    expect([path, Buffer.from(content.split(" ")[1] ?? "", "base64").includes(SECRET)]).toEqual([path, false]);
  }
}

function inspect(thrown: unknown): string {
  const { message, hint, stack, cause } = thrown as Error & { hint?: string };
  return JSON.stringify([message, hint, stack, cause instanceof Error ? [cause.message, cause.stack] : cause]);
}

function findSshd(): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  return folders.map((folder) => join(folder, "sshd")).find((path) => existsSync(path));
}
