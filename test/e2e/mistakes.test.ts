import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Turn, tempProject } from "@pi-agent/testing";
import { lacksRightsOfOthers, PI_BIN, runPi } from "@pi-agent/testing/house";
import { expect, test } from "vitest";
import { openWorkbench, readSessions } from "./workbench.ts";

const DONE: Turn = { text: "Done." };
const MODEL = ["--model", "wire-chat/scripted"];

test("without a key the variable to set is named, and nothing is sent", async () => {
  await using project = await tempProject();
  const options = { cwd: project.path, home: project.home };
  const named = await runPi(["-p", "hi", "--provider", "anthropic"], options).done;
  expect(named).toMatchObject({ code: 1, stdout: "" });
  expect(named.stderr).toContain("ANTHROPIC_API_KEY");
  const unnamed = await runPi(["-p", "hi"], options).done;
  expect(unnamed).toMatchObject({ code: 1, stdout: "" });
  expect(unnamed.stderr).toMatch(/_API_KEY|models\.json/);
});

test("a key that the provider refuses is an auth failure that says what to check", async () => {
  await using bench = await openWorkbench([{ fail: { status: 401 } }]);
  const { code, stdout, stderr } = await bench.ask("hi").done;
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("key");
  expect(stderr).not.toContain("test-key");
});

test.for([
  ["model", ["--model", "wire-chat/scriptd"], /scriptd/, /wire-chat\/scripted/],
  ["provider", ["--provider", "wire-caht", "--model", "scripted"], /wire-caht/, /wire-chat/],
  ["flag", ["--modle", "wire-chat/scripted"], /--modle/, /--model/],
  ["tool", [...MODEL, "--tools", "reed"], /reed/, /read/],
  ["mode", [...MODEL, "--mode", "jason"], /jason/, /json/],
  ["thinking level", [...MODEL, "--thinking", "hihg"], /hihg/, /high/],
  ["file", [...MODEL, "@missing.txt"], /missing\.txt/, /no such file/],
] as const)(
  "an unknown %s says which, and the nearest or what there is, and is exit code 2",
  async ([, args, which, nearest]) => {
    await using bench = await openWorkbench([DONE]);
    const { code, stdout, stderr } = await bench.pi(["-p", "hi", ...args]).done;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(which);
    expect(stderr).toMatch(nearest);
    expect(bench.server.requests).toEqual([]);
  },
);

test("no prompt at all is exit code 2", async () => {
  await using bench = await openWorkbench([DONE]);
  const { code, stdout, stderr } = await bench.pi(["-p", ...MODEL]).done;
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("pi -p");
});

test("broken settings name file, line and column, and the defaults hold", async () => {
  await using bench = await openWorkbench([DONE], {
    agentFiles: { "settings.json": '{\n  "theme": "dark",\n  "x" 1\n}\n' },
  });
  const { code, stdout, stderr } = await bench.ask("hi").done;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
  expect(stderr).toContain(`${join(bench.agentDir, "settings.json")}:3:`);
});

test("a broken models.json names its place, and is no stack trace", async () => {
  await using bench = await openWorkbench([DONE]);
  await bench.write(join(bench.agentDir, "models.json"), '{ "providers": { ');
  const { code, stdout, stderr } = await bench.ask("hi").done;
  expect(code).not.toBe(0);
  expect(stdout).toBe("");
  expect(stderr).toContain("models.json");
  expect(stderr).not.toMatch(/^\s+at /m);
});

test("a session that is not there, and one that cannot be read, end the start with the reason (F104)", async () => {
  await using bench = await openWorkbench([DONE]);
  const missing = await bench.ask("hi", "--session", "no-such-session").done;
  expect(missing).toMatchObject({ code: 1, stdout: "" });
  expect(missing.stderr).toContain("no-such-session");
  const path = await bench.write(join(bench.home, "noise.jsonl"), Buffer.from([0, 1, 2, 255, 254, 10, 7]));
  const noise = await bench.ask("hi", "--session", path).done;
  expect(noise).toMatchObject({ code: 1, stdout: "" });
  expect(noise.stderr).toContain("noise.jsonl");
  expect(bench.server.requests).toEqual([]);
});

test("a session with a damaged line goes on with what can be read, and says so (F103)", async () => {
  await using bench = await openWorkbench([{ text: "One." }, { text: "Two." }]);
  await bench.ask("first").done;
  const [session] = await readSessions(bench.agentDir);
  const damaged = [...(session ?? []).map((line) => JSON.stringify(line)), '{"type":"message","id":"x', ""].join("\n");
  const path = await bench.write(join(bench.home, "damaged.jsonl"), damaged);
  const { code, stdout, stderr } = await bench.ask("second", "--session", path).done;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Two.\n" });
  expect(stderr).toContain("damaged.jsonl");
  expect(bench.server.requests[1]?.neutral?.messages.map((message) => message.text)).toEqual([
    "first",
    "One.",
    "second",
  ]);
});

test("a folder that is gone is one clear line and exit code 1 (F080)", async () => {
  await using bench = await openWorkbench([DONE]);
  const run = bench.pi(["-p", "hi", ...MODEL], { via: ["sh", "-c", 'rm -rf "$PWD" && exec "$@"', "sh"] });
  const { code, stdout, stderr } = await run.done;
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/folder|directory/);
  expect(stderr).not.toMatch(/^\s+at /m);
});

test("a home that cannot be written does not keep an answer back, and is told once", async ({ skip }) => {
  const lack = lacksRightsOfOthers(dirname(PI_BIN));
  if (lack) skip(lack);
  await using bench = await openWorkbench([DONE]);
  // Nothing is forbidden to root, so it goes on as nobody.
  const via =
    process.getuid?.() === 0 ? (["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] as const) : undefined;
  await chmod(dirname(bench.path), 0o755);
  for (const folder of [bench.agentDir, dirname(bench.agentDir), bench.home]) await chmod(folder, 0o555);
  const { code, stdout, stderr } = await bench.pi(["-p", "hi", ...MODEL], { via }).done;
  for (const folder of [bench.home, dirname(bench.agentDir), bench.agentDir]) await chmod(folder, 0o755);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
  expect(stderr.match(/^.*EACCES.*$/gm)).toHaveLength(1);
});

test.each(["models.json", "auth.json"])(
  "a damaged %s is told with its line, also when nothing else is wrong",
  async (name) => {
    await using project = await tempProject();
    await mkdir(project.agentDir, { recursive: true });
    await writeFile(join(project.agentDir, name), '{\n  "providers": {,\n}');
    const { stderr } = await runPi(["-p", "hi"], { cwd: project.path, home: project.home }).done;
    expect(stderr).toMatch(new RegExp(`${name}:2:\\d+: It is not valid JSON`));
  },
);
