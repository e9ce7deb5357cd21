import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type BashOptions, createBashTool, createReadTool, LeftRunning } from "../src/index.ts";
import { commandLineOf, pidsOf } from "./living.ts";
import { type CallOptions, type CallOutcome, call, tempFolder, withoutRoot } from "./tool-call.ts";

interface Run extends Partial<CallOptions> {
  timeout?: number;
  options?: BashOptions;
}

/** Runs a command; what it leaves running is ended with the test. */
async function run(command: string, { timeout, options, cwd = tempFolder(), ...rest }: Run = {}): Promise<CallOutcome> {
  const leftRunning = new LeftRunning();
  onTestFinished(() => leftRunning.end());
  const tool = createBashTool(undefined, { leftRunning, ...options, outputDirectory: options?.outputDirectory ?? cwd });
  return call(tool, { command, timeout }, { cwd, ...rest });
}

test("a command answers its output and its exit code", async () => {
  expect(await run("echo out; echo err >&2")).toMatchObject({
    text: "out\nerr\n",
    isError: false,
    details: { exitCode: 0 },
  });
  expect((await run("true")).text).toBe("(no output)");
});

test("there is no input and no terminal", async () => {
  expect((await run("cat; tty")).text).toContain("not a tty");
});

test.each([
  ["sleep 30 & echo started", "started"],
  ["nohup sleep 30 >/dev/null & echo x", "x"],
  ["(sleep 30 &)", "(no output)"],
  ["sleep 30 & disown", "(no output)"],
  ["sh -c 'sleep 30 >&2 &'", "(no output)"],
  ["while :; do echo noise; sleep 0.02; done & echo loud", "loud"],
])("F074 a background child does not hang the call, is named, and ends with the session: %s", async (command, said) => {
  for (const timeout of [undefined, 20]) {
    const leftRunning = new LeftRunning();
    const outcome = await run(command, { timeout, options: { leftRunning } });
    expect(outcome.isError).toBe(false);
    expect(outcome.text).toContain(said);
    expect(outcome.text).toMatch(/\[Still running in the background: \d+ \(\w+\).* To stop it: kill \d+/);
    const [first] = outcome.details!.background as { pid: number }[];
    await leftRunning.end();
    expect(commandLineOf(first!.pid)).toBeUndefined();
  }
});

test.each([
  "setsid sleep 6171 & wait",
  'python3 -c \'import os,time; os.fork() or (os.setsid(), os.fork() or os.execlp("sleep", "sleep", "6171"))\'; sleep 6171',
  "sh -c 'trap \"\" TERM HUP INT; sleep 6171'",
  "nohup setsid sleep 6171 >/dev/null 2>&1 & wait",
])("F076 children that left the process group are ended too: %s", async (command) => {
  const outcome = await run(command, { timeout: 0.5 });
  expect(outcome).toMatchObject({ isError: true, details: { endedBy: "timeout" } });
  expect(outcome.text).toContain("Command timed out after 0.5 seconds");
  expect(pidsOf("sleep 6171")).toEqual([]);
});

test.each(["trap '' TERM; sleep 6172 & wait; sleep 6172", 'sh -c \'sh -c "sleep 6172" & sh -c "sleep 6172"\''])(
  "F077 the entire tree ends on timeout and on abort: %s",
  async (command) => {
    expect((await run(command, { timeout: 0.3 })).text).toContain("Command timed out after 0.3 seconds");
    expect(pidsOf("sleep 6172")).toEqual([]);
    const controller = new AbortController();
    const outcome = await run(`echo ready; ${command}`, {
      signal: controller.signal,
      onUpdate: () => controller.abort(),
    });
    expect(outcome).toMatchObject({ isError: true, text: "ready\n\nCommand aborted", details: { endedBy: "abort" } });
    expect(pidsOf("sleep 6172")).toEqual([]);
  },
);

test("F077 a command gets SIGTERM first, and its last words are kept", async () => {
  const controller = new AbortController();
  const outcome = await run("trap 'echo bye; exit 3' TERM; echo hi; sleep 60 & wait", {
    signal: controller.signal,
    onUpdate: () => controller.abort(),
  });
  expect(outcome.text).toBe("hi\nbye\n\nCommand aborted");
});

test.each([0, -1, 1e12, Number.NaN])("F077 a timeout of %s is refused before anything runs", async (timeout) => {
  const cwd = tempFolder();
  const outcome = await run("touch ran", { timeout, cwd });
  expect(outcome.isError).toBe(true);
  expect(outcome.text).toContain(`at most 2147483.647, not ${timeout}`);
  expect(readdirSync(cwd)).toEqual([]);
});

test("F077 the longest timeout does not fire at once", async () => {
  expect((await run("sleep 0.05; echo done", { timeout: 2_147_483 })).text).toBe("done\n");
});

test.each([
  ["nobody there", undefined, 600_000],
  ["a user interface", undefined, undefined],
  ["a user interface", 5, 5_000],
  ["nobody there", 0, undefined],
])("F077 without a timeout, with %s and setting %s: %s ms", async (who, timeoutSeconds, timeoutMs) => {
  let asked: number | undefined;
  const operations: BashOptions["operations"] = {
    async run(_command, request) {
      asked = request.timeoutMs;
      return { code: 0, background: [], survivors: [] };
    },
  };
  await run("true", {
    hasUI: who === "a user interface",
    options: { operations, settings: () => ({ timeoutSeconds }) },
  });
  expect(asked).toBe(timeoutMs);
});

test("F079 git fails at once where it would open an editor, and leaves no lock", async () => {
  const cwd = tempFolder();
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd });
  git("init", "-q");
  git("commit", "-q", "--allow-empty", "-m", "first");
  git("commit", "-q", "--allow-empty", "-m", "second");
  const identity = "export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t; ";
  for (const command of [
    "git commit --allow-empty",
    "git rebase -i HEAD~1",
    "git tag -a v1",
    "$EDITOR file",
    "$VISUAL file",
  ]) {
    const outcome = await run(identity + command, { cwd });
    expect(outcome.isError).toBe(true);
    expect(outcome.text).toContain("no-editor-in-this-shell");
  }
  expect(readdirSync(join(cwd, ".git")).filter((name) => name.endsWith(".lock"))).toEqual([]);
});

test("F080 a working directory that is gone is named, and works again when it is back", async () => {
  const cwd = join(tempFolder(), "w");
  mkdirSync(cwd);
  expect((await run(`rm -rf ${cwd}`, { cwd, options: { outputDirectory: "/tmp" } })).isError).toBe(false);
  const gone = await run("pwd", { cwd });
  expect(gone).toMatchObject({ isError: true });
  expect(gone.text).toContain(`Working directory does not exist: ${cwd}`);
  writeFileSync(`${cwd}.txt`, "reachable");
  expect((await call(createReadTool(), { path: `${cwd}.txt` }, { cwd })).text).toBe("reachable");

  writeFileSync(cwd, "a file");
  expect((await run("pwd", { cwd })).text).toContain(`Working directory is not a directory: ${cwd}`);
  rmSync(cwd);
  symlinkSync(tempFolder(), cwd);
  expect((await run("echo linked", { cwd })).text).toBe("linked\n");
  rmSync(cwd);
  mkdirSync(cwd);
  expect((await run("echo back", { cwd })).text).toBe("back\n");
});

test("F080 a working directory that may not be entered is named", async () => {
  const folder = tempFolder();
  const cwd = join(folder, "shut");
  mkdirSync(cwd);
  chmodSync(cwd, 0);
  const outcome = await withoutRoot(folder, () => run("pwd", { cwd }));
  chmodSync(cwd, 0o755);
  expect(outcome.text).toContain(`Working directory cannot be entered: ${cwd}`);
});

test("F082 a character cut between chunks, or across the two streams, arrives whole", async () => {
  expect((await run("printf '\\xf0\\x9f'; sleep 0.05; printf '\\x98\\x80'")).text).toBe("\u{1f600}");
  const mixed = await run("printf '\\xf0\\x9f'; sleep 0.05; printf e >&2; sleep 0.05; printf '\\x98\\x80'");
  expect(mixed.text).toBe("e\u{1f600}");
});

test("F082 what is kept of a long output is under the limit and holds whole characters", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "emoji"), "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}".repeat(20_000));
  const outcome = await run("cat emoji", { cwd });
  const [shown, notice] = outcome.text.split("\n\n");
  expect(Buffer.byteLength(shown!)).toBeLessThanOrEqual(51_200);
  expect(shown!.isWellFormed()).toBe(true);
  expect(shown).not.toContain("\ufffd");
  expect(notice).toMatch(
    /^\[Showing last 50\.0KB of line 1 \(line is 351\.6KB\)\. Full output: .*pi-bash-[0-9a-f]{16}\.log\]$/,
  );
});

test("F083 escape codes, control characters and bytes that are no text are made safe", async () => {
  const outcome = await run("printf '\\e[31mred\\e[0m \\e]0;title\\a\\xc3\\x28 a\\0b\\n10%%\\r20%%\\r\\n'");
  expect(outcome.text).toBe("red \ufffd( ab\n10%\n20%\n");
  expect(outcome.details).toMatchObject({ cleaned: true });
});

test.each([
  ["kill -9 $$", "code 137 (SIGKILL)", 137],
  ["kill -TERM $$", "code 143 (SIGTERM)", 143],
  ["exit 143", "code 143", 143],
  ["exit 124", "code 124", 124],
  ["exec false", "code 1", 1],
  ["echo before; no-such-program", "code 127", 127],
  ["if", "code 2", 2],
])("F085 the exit of %s is told as it was", async (command, said, exitCode) => {
  const outcome = await run(command);
  expect(outcome).toMatchObject({ isError: true, details: { exitCode } });
  expect(outcome.text.endsWith(`Command exited with ${said}`)).toBe(true);
  expect(outcome.text).not.toContain("timed out");
});

test("F085 a pipeline tells what bash tells, and an empty command is nothing", async () => {
  expect((await run("false | true")).isError).toBe(false);
  expect((await run("set -o pipefail; false | true")).details).toMatchObject({ exitCode: 1 });
  expect(await run("")).toMatchObject({ isError: false, text: "(no output)" });
});

test("F085 commands that cannot be started are clear errors", async () => {
  expect((await run("echo a\0b")).text).toContain("holds a NUL character");
  expect((await run(`echo ${"x".repeat(200_000)}`)).text).toContain("too long for the system: 200005 bytes");
  const options = { settings: () => ({ shellPath: "/no/such/shell" }) };
  expect((await run("true", { options })).text).toBe(
    "Shell not found: /no/such/shell (ENOENT)\nSet shellPath in the settings to a shell that is there.",
  );
});

test("F086 a command that ends its own group does not end the agent", async () => {
  expect((await run("kill 0")).details).toMatchObject({ signal: "SIGTERM" });
  expect((await run("kill -TERM -- -$(ps -o pgid= $$)")).details).toMatchObject({ signal: "SIGTERM" });
});

test("more than 2,000 lines show the last ones and name a private file with all", async () => {
  const cwd = tempFolder();
  const outcome = await run("seq 3000", { cwd });
  const file = String(outcome.details!.fullOutputPath);
  expect(outcome.text.startsWith("1001\n1002\n")).toBe(true);
  expect(outcome.text.endsWith(`3000\n\n[Showing lines 1001-3000 of 3000. Full output: ${file}]`)).toBe(true);
  expect(readFileSync(file, "utf8")).toBe(Array.from({ length: 3_000 }, (_, index) => `${index + 1}\n`).join(""));
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("output comes as it grows", async () => {
  const controller = new AbortController();
  const seen: string[] = [];
  await run("echo first; sleep 30", {
    signal: controller.signal,
    onUpdate({ content: [block] }) {
      if (block?.type === "text") seen.push(block.text);
      controller.abort();
    },
  });
  expect(seen).toEqual(["first\n"]);
});

test("commands are told of their session and get no secrets", async () => {
  const secrets = {
    ANTHROPIC_API_KEY: "k",
    DATABASE_URL: "postgres://u:p@h/d",
    APP_DATABASE_URL: "x",
    PI_SESSION_FILE: "an outer one",
  };
  Object.assign(process.env, secrets);
  onTestFinished(() => {
    for (const name of Object.keys(secrets)) delete process.env[name];
  });
  const { text } = await run("env", {
    model: { provider: "anthropic", id: "some-model" },
    options: { secretNames: () => ["ANTHROPIC_API_KEY"], reasoningLevel: () => "high" },
  });
  expect(text).toContain("PI_SESSION_ID=session-1\n");
  expect(text).toContain("PI_PROVIDER=anthropic\n");
  expect(text).toContain("PI_MODEL=some-model\n");
  expect(text).toContain("PI_REASONING_LEVEL=high\n");
  for (const name of Object.keys(secrets)) expect(text).not.toMatch(new RegExp(`^${name}=`, "m"));
});

test("a prefix comes before every command", async () => {
  const options = { settings: () => ({ commandPrefix: "greeting=hello" }) };
  expect((await run("echo $greeting", { options })).text).toBe("hello\n");
});

test("after an abort nothing is started", async () => {
  const cwd = tempFolder();
  expect((await run("touch ran", { cwd, signal: AbortSignal.abort() })).text).toBe("Operation aborted");
  expect(readdirSync(cwd)).toEqual([]);
});
