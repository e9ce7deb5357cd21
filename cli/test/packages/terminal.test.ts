import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { HAS_TMUX, openTerminal } from "../../../test/e2e/tmux.ts";
import { type Bench, EXTENSION, openBench, PI } from "./bench.ts";

vi.setConfig({ testTimeout: 60_000 });
beforeEach(({ skip }) => skip(!HAS_TMUX, "needs tmux"));

function open({ project, env }: Bench, ...args: string[]) {
  // The code that the command ended with is shown below what it said.
  const script = 'trap : INT; "$@"; echo "ended with $?"';
  return openTerminal(["sh", "-c", script, "sh", process.execPath, PI, ...args], { cwd: project, env, rows: 24 });
}

test("P5: a person is asked, and nothing but a typed yes installs; Ctrl-C is told as that", async () => {
  const bench = await openBench();
  bench.registry.publish({ name: "one", version: "1.0.0", files: EXTENSION });
  const question = /Install it for you \(.+settings\.json\)\? \[y\/N\]$/;
  for (const [keys, end] of [
    ["Enter", "Nothing was changed.\nended with 1"],
    ["C-c", "Nothing was changed.\nended with 130"],
  ] as const) {
    await using terminal = await open(bench, "install", "npm:one");
    await terminal.sees(question);
    await vi.waitFor(async () => {
      await terminal.type("", keys);
      await terminal.sees(end, 1_000);
    }, 20_000);
    await expect(bench.settings()).rejects.toThrow("ENOENT");
  }
  await using terminal = await open(bench, "install", "npm:one");
  await terminal.sees(question);
  await vi.waitFor(async () => {
    await terminal.type("y", "Enter");
    await terminal.sees("Installed one 1.0.0 for you: 1 extension.\nended with 0", 1_000);
  }, 20_000);
  expect(await bench.settings()).toMatchObject({ packages: ["npm:one"] });
});

test("P4: what takes long is one line on a terminal, which is gone when it ends, and Ctrl-C ends it with 130", async () => {
  const bench = await openBench();
  bench.registry.publish({ name: "one", version: "1.0.0", files: EXTENSION });
  bench.registry.fail(/\.tgz$/, "hang");
  await using terminal = await open(bench, "install", "npm:one", "--yes");
  await terminal.sees(/^fetching one · 1 s$/m);
  await terminal.type("", "C-c");
  const screen = await terminal.sees("ended with 130");
  expect(screen).toMatch(/^(?:\^C)?Interrupted\. .+\nended with 130(?:\n|$)/);
});

test("P6: the screen of pi config turns resources on and off, and switches to the project's", async () => {
  const bench = await openBench();
  for (const scope of [[], ["-l"]]) {
    await bench.put("pkg/extensions/one.ts", EXTENSION["extensions/one.ts"]);
    await bench.put("pkg/prompts/ask.md", "Ask.\n");
    await bench.pi("install", join(bench.project, "pkg"), "--yes", ...scope);
  }
  await using terminal = await open(bench, "config");
  await terminal.sees(
    /^Packages of yours, in every project\n\npkg\n {2}> \[x\] extensions\/one\.ts\n {4}\[x\] prompts\/ask\.md/,
  );
  await terminal.type("", "Down", "Space");
  await terminal.sees(/ {4}\[x\] extensions\/one\.ts\n {2}> \[ \] prompts\/ask\.md/);
  await terminal.type("", "Tab");
  await terminal.sees(/^Packages of this project\n\npkg\n {2}> \[x\] extensions\/one\.ts/);
  await terminal.type("", "Escape");
  expect(await terminal.sees("ended with 0")).toMatch(/^Off: prompts\/ask\.md of pkg\nended with 0/);
  expect(await bench.settings()).toMatchObject({ packages: [{ prompts: ["-prompts/ask.md"] }] });
});
