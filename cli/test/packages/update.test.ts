import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { EXTENSION, openBench } from "./bench.ts";

vi.setConfig({ testTimeout: 60_000 });

test("P6, F019: list says what is newer when it is asked, update shows from and to, keeps pins, tells each failure", async () => {
  const { registry, pi, write } = await openBench();
  const publish = (name: string, version: string) => registry.publish({ name, version, files: EXTENSION });
  for (const name of ["one", "two", "three"]) publish(name, "1.0.0");
  const packages = ["npm:one", "npm:two@^1.0.0", "npm:three@1.0.0"];
  await write(".pi/agent/settings.json", JSON.stringify({ packages }));
  await pi("install", "--yes");
  for (const name of ["one", "two", "three"]) publish(name, "1.1.0");
  publish("two", "2.0.0");

  registry.asked.length = 0;
  const listed = await pi("list");
  expect(listed).toMatchObject({ code: 0, stderr: "" });
  expect(registry.asked).toEqual([]);
  const { stdout } = await pi("list", "--outdated");
  expect(stdout.replaceAll(/ +/g, " ")).toBe(
    "Yours, in every project\n" +
      " name version wanted latest state contains source\n" +
      " one 1.0.0 1.1.0 1.1.0 ok 1 extension npm:one\n" +
      " two 1.0.0 1.1.0 2.0.0 ok 1 extension npm:two@^1.0.0\n" +
      " three 1.0.0 1.0.0 1.1.0 ok 1 extension npm:three@1.0.0\n",
  );
  expect(JSON.parse((await pi("list", "--json")).stdout)).toMatchObject([
    { name: "one", scope: "user", state: "ok", version: "1.0.0" },
    { name: "two" },
    { name: "three" },
  ]);

  expect(await pi("update")).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("try: --yes") });
  registry.fail(/^\/two$/, "500");
  const updated = await pi("update", "--yes");
  expect(updated.stderr).toContain("\nUpdates npm:one: 1.0.0 -> 1.1.0\n");
  expect(updated.stderr).toMatch(
    /\nerror: npm:two\S+ was not updated.+\n {2}why: .+500.+\n {2}try: .+pi update npm:two\S+\n/,
  );
  expect(updated).toMatchObject({
    code: 1,
    stdout: "Updated npm:one: 1.0.0 -> 1.1.0\nPinned npm:three@1.0.0: 1.0.0 stays, the source names an exact version\n",
  });
  registry.heal();
  expect(await pi("update", "two", "-y")).toMatchObject({
    code: 0,
    stdout: "Updated npm:two@^1.0.0: 1.0.0 -> 1.1.0\n",
  });
  expect(await pi("update", "--extension", "npm:two")).toMatchObject({ stdout: "Newest npm:two@^1.0.0: 1.1.0\n" });
  expect(await pi("update", "twoo")).toMatchObject({ code: 1, stderr: expect.stringContaining("Did you mean two?") });
  expect(await pi("update", "--self")).toMatchObject({ code: 2, stderr: expect.stringContaining("npm install -g") });
  expect(await pi("update", "two", "--all")).toMatchObject({ code: 2 });
});

test("F013, F014: a branch moves, a tag stays and is said to be pinned, and another ref is what one gets", async () => {
  const { pi, home, settings } = await openBench();
  const repository = join(home, "repo.git");
  await mkdir(join(repository, "extensions"), { recursive: true });
  const git = async (...args: string[]) => {
    const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"];
    return (await promisify(execFile)("git", [...identity, ...args], { cwd: repository })).stdout.trim();
  };
  const commit = async (version: string) => {
    await writeFile(join(repository, "package.json"), JSON.stringify({ name: "tool", version }));
    await writeFile(join(repository, "extensions/x.ts"), `export default () => "${version}";\n`);
    await git("add", "--all");
    await git("commit", "--quiet", `--message=${version}`);
    return (await git("rev-parse", "HEAD")).slice(0, 12);
  };
  await git("init", "--quiet", "--initial-branch=dev");
  const first = await commit("1.0.0");
  await git("tag", "v1");
  const url = `git:file://${repository}`;
  expect(await pi("install", `${url}@dev`, "--yes")).toMatchObject({ code: 0 });
  const second = await commit("1.1.0");
  const moved = await pi("update", "--yes");
  expect(moved.stdout).toContain(`: 1.0.0 ${first} -> 1.1.0 ${second}\n`);
  expect(await pi("install", `${url}@v1`, "--yes")).toMatchObject({ stdout: expect.stringContaining("tool 1.0.0") });
  expect((await pi("update")).stdout).toMatch(/^Pinned .+: 1\.0\.0 \w+ stays, /);
  expect((await settings()).packages ?? (await settings()).piAgent).toHaveLength(1);
});
