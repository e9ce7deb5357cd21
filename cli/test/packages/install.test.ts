import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { finish, waitFor } from "../run-node.ts";
import { EXTENSION, openBench, projectSettings } from "./bench.ts";

// Each test starts the command several times, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const SCRIPTED = { scripts: { postinstall: 'echo ran > "$npm_config_local_prefix/ran"' }, hasInstallScript: true };

test("P5, F017: without a person a package is shown whole, and neither installed nor let run anything without --yes", async () => {
  const { registry, pi, agentDir } = await openBench();
  registry.publish({ name: "dep", version: "1.0.0", manifest: SCRIPTED });
  const manifest = { peerDependencies: { "@earendil-works/pi-tui": "*" }, dependencies: { dep: "1" } };
  registry.publish({ name: "one", version: "1.0.0", files: EXTENSION, publisher: "somebody", manifest });
  const refused = await pi("install", "npm:one");
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toMatch(/^one 1\.0\.0\n {2}source +npm:one\n/);
  expect(refused.stderr).toMatch(/\n {2}publisher +somebody\n {2}published +unknown\n/);
  expect(refused.stderr).toContain("dep wants to run postinstall: ");
  expect(refused.stderr).toMatch(/\nerror: .+\n {2}why: .+\n {2}try: --yes .+\n$/);
  expect(await readdir(agentDir)).not.toContain("settings.json");

  const installed = await pi("install", "npm:one", "--yes");
  expect(installed).toMatchObject({
    code: 0,
    stdout:
      "Installed one 1.0.0 for you: 1 extension.\n" +
      "It needs @earendil-works/pi-tui, which nothing here lends: what imports it will not load.\n",
  });
  expect(installed.stderr).toBe(refused.stderr.slice(0, refused.stderr.indexOf("error: ")));
  // What is there needs no answer.
  expect(await pi("install", "npm:one")).toMatchObject({ code: 0, stderr: "" });
  const { stdout } = await pi("install", "npm:one", "--yes", "--allow-scripts", "dep");
  expect(stdout).toContain("Installed one 1.0.0 for you");
});

test("P3: pi install alone brings what settings and lock name, --frozen refuses drift, and goes back to another lock", async () => {
  const bench = await openBench();
  const { registry, pi, agentDir } = bench;
  registry.publish({ name: "one", version: "1.0.0", files: EXTENSION });
  expect(await pi("install")).toMatchObject({ code: 0, stdout: `${agentDir}/settings.json declares no packages.\n` });
  await pi("install", "npm:one", "--yes");
  registry.publish({ name: "one", version: "1.1.0", files: EXTENSION });
  await pi("update", "--yes");
  const back = await pi("install", "--frozen", "--lock", join(agentDir, "pi.lock.previous.json"));
  expect(back).toMatchObject({ code: 0, stdout: "There now: one 1.0.0 for you: 1 extension.\n", stderr: "" });
  await writeFile(join(agentDir, "settings.json"), JSON.stringify({ packages: ["npm:one", "npm:two", "./nowhere"] }));
  const drift = await pi("install", "--frozen");
  expect(drift.code).toBe(1);
  expect(drift.stderr).toMatch(/^error: .+npm:two is not locked.+\n {2}try: .+--frozen.+\n$/);
  registry.publish({ name: "two", version: "1.0.0", files: EXTENSION });
  const all = await pi("install", "--yes");
  // What is declared and not there is told, and is no success.
  expect(all).toMatchObject({ code: 1, stdout: "Installed two 1.0.0 for you: 1 extension.\n" });
  expect(all.stderr).toMatch(/\nerror: .+nowhere could not be read: .+\n {2}try: .+\n$/);
  expect(await pi("install", "--lock", "x")).toMatchObject({ code: 2 });
  expect(await pi("install", "--frozen", "npm:one")).toMatchObject({ code: 2 });
});

test("P10, F025: a source that has no one meaning is wrong usage, and no password is printed or stored", async () => {
  const { pi, settings } = await openBench();
  expect(await pi("install", "one")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("./one for a folder, npm:one for a package of npm"),
  });
  expect(await pi("install", "")).toMatchObject({ code: 2, stderr: expect.stringContaining("it is empty") });
  expect(await pi("install", "--", "--yes")).toMatchObject({ code: 2, stderr: expect.stringContaining("a dash") });
  for (const command of ["install", "remove"]) {
    const { stderr } = await pi(command, "https://me:secret-word@127.0.0.1:1/x.git");
    expect(stderr).toMatch(/^error: .+\n {2}try: .+\n$/);
    expect(stderr).not.toContain("secret-word");
  }
  await expect(settings()).rejects.toThrow("ENOENT");
});

test("-l is refused where the project waits for an answer, works with --approve, and what it wrote stays trusted", async () => {
  const bench = await openBench();
  const { registry, pi, put } = bench;
  registry.publish({ name: "one", version: "1.0.0", files: EXTENSION });
  registry.publish({ name: "two", version: "1.0.0", files: EXTENSION });
  await put(".pi/settings.json", JSON.stringify({ packages: ["npm:one"] }));
  const refused = await pi("install", "-l", "npm:two", "--yes");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/^error: .*\.pi\/settings\.json is not trusted\.\n {2}try: .*pi trust.*\n$/);
  expect(await pi("list")).toMatchObject({ code: 0, stderr: expect.stringContaining("is not trusted") });
  await pi("trust", "yes");
  expect(await pi("install", "-l", "npm:two", "--yes")).toMatchObject({ code: 0 });
  expect(await projectSettings(bench)).toEqual({ packages: ["npm:one", "npm:two"] });
  const listed = await pi("list", "-l");
  expect(listed.stdout).toMatch(/two +1\.0\.0 +ok /);
  expect(listed.stdout).toMatch(/one +- +missing /);
  expect(listed.stderr).toContain("pi install -l");
  expect(await pi("install", "-l", "--yes")).toMatchObject({ code: 0 });
  expect(await pi("trust", "show")).toMatchObject({ stdout: expect.stringMatching(/loaded .*package +npm:one/) });
});

test("P4: Ctrl-C in the middle leaves the old state, says so, and ends with 130; what takes long is told on a pipe", async () => {
  const { registry, start, agentDir } = await openBench();
  registry.publish({ name: "one", version: "1.0.0", files: EXTENSION });
  registry.fail(/\.tgz$/, "hang");
  const child = start("install", "npm:one", "--yes");
  const done = finish(child);
  await waitFor(child.stderr, "fetching ");
  child.kill("SIGINT");
  const { code, stdout, stderr } = await done;
  expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
  expect(stderr).toMatch(
    /^(?:looking up npm:one\n)?fetching one\nInterrupted\. What was installed before is as it was\.\n$/,
  );
  expect(await readdir(agentDir)).not.toContain("settings.json");
});
