import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { PI_BIN } from "@pi-agent/testing/house";
import { beforeEach, expect, test, vi } from "vitest";
import { HAS_TMUX, openTerminal, type TestTerminal } from "./tmux.ts";
import { openWorkbench, type Workbench } from "./workbench.ts";

// Each test starts the command several times, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });
beforeEach(({ skip }) => skip(!HAS_TMUX, "needs tmux"));

const MODEL = ["--model", "wire-anthropic/scripted"];

/** Starts a conversation in the project, or in another folder, at a real terminal. */
function converse(bench: Workbench, cwd = bench.path): Promise<TestTerminal> {
  const { home } = bench;
  return openTerminal([process.execPath, PI_BIN, ...MODEL], { cwd, env: { HOME: home, NO_COLOR: "1" } });
}

/** Waits until the person can type the next task, and answers what was shown since `from`, as the documentation has it. */
async function sees(terminal: TestTerminal, end: RegExp, from: string, bench: Workbench): Promise<string> {
  const screen = await terminal.sees(end);
  const shown = screen.slice(screen.lastIndexOf(from));
  return shown.replaceAll(bench.path, "/home/you/project").replaceAll(bench.agentDir, "/home/you/.pi/agent");
}

/** Answers when the terminal shows what `docs/trust.md` has as a screen. */
async function expectInDocs(screen: string): Promise<void> {
  const docs = await readFile(new URL("../../docs/trust.md", import.meta.url), "utf8");
  expect(docs).toContain(`\n\`\`\`text\n${screen}\n\`\`\`\n`);
}

const PROMPT = /\n>$/;
const QUESTION = /\nNumber:$/;

const NOTES = "import { appendFileSync } from 'node:fs';\nimport { homedir } from 'node:os';\n";
const note = (what: string) => `appendFileSync(homedir() + "/ran", "${what}\\n");`;
const NOTIFY = `${NOTES}import { message } from "../../lib/message.ts";
${note("notify: loaded")}
export default function (pi) {
  pi.registerTool({
    name: "notify",
    description: message,
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text", text: message }] }),
  });
  pi.onDispose(() => { ${note("notify: gone")} });
}
`;
const MCP = JSON.stringify({ mcpServers: { theirs: { command: "sh", args: ["-c", 'echo M3 >> "$HOME/ran"'] } } });
const REPOSITORY = {
  "AGENTS.md": "Use tabs.\n",
  "src/index.ts": "export const version = 1;\n",
  "lib/message.ts": 'export const message = "The build is done.";\n',
  ".pi/settings.json": '{ "theme": "dark" }\n',
  ".pi/APPEND_SYSTEM.md": "Releases are made on Fridays.\n",
  ".pi/extensions/notify.ts": NOTIFY,
  ".pi/extensions/deploy.ts": `${NOTES}${note("deploy: loaded")}\nexport default () => {};\n`,
  ".pi/skills/release/SKILL.md": "---\nname: release\ndescription: Makes a release.\n---\nRun scripts/release.sh.\n",
  ".pi/skills/release/scripts/release.sh": "#!/bin/sh\ngit tag\n",
};

async function ranIn({ home }: Workbench): Promise<string[]> {
  const path = join(home, "ran");
  return existsSync(path) ? (await readFile(path, "utf8")).trim().split("\n") : [];
}

/** What the model was told last: its tools, and whether the project's words are in it. */
function lastTold({ server }: Workbench) {
  const last = server.requests.at(-1);
  const tools = last?.neutral?.tools.map(({ name }) => name) ?? [];
  return { hasNotify: tools.includes("notify"), hasText: JSON.stringify(last?.body).includes("made on Fridays") };
}

/** Somebody else changes the repository, and the person pulls it. */
async function pullChange({ path, home }: Workbench, files: Record<string, string>): Promise<void> {
  const theirs = join(home, "..", "theirs");
  const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  const git = (cwd: string, ...args: string[]) =>
    promisify(execFile)("git", ["-c", "user.name=They", "-c", "user.email=they@example.invalid", ...args], {
      cwd,
      env,
    });
  await git(path, "clone", "--quiet", path, theirs);
  for (const [file, text] of Object.entries(files)) await writeFile(join(theirs, file), text);
  await git(theirs, "commit", "--quiet", "--all", "--message=change");
  await git(path, "pull", "--quiet", "--ff-only", theirs, "main");
}

test("a new user opens a repository, lets its texts load, allows one extension, pulls, looks at the diff, and revokes (T1, T2, T10)", async () => {
  await using bench = await openWorkbench(() => ({ text: "Done." }), { files: REPOSITORY, git: true });
  {
    await using terminal = await converse(bench);
    await expectInDocs(await sees(terminal, QUESTION, "This project brings", bench));
    await terminal.type("2", "Enter");
    await terminal.sees(PROMPT);
    await terminal.type("hello", "Enter");
    await terminal.sees(/Done\.\n>$/);
    expect(lastTold(bench)).toEqual({ hasNotify: false, hasText: true });
    expect(await ranIn(bench)).toEqual([]);

    await terminal.type("/trust yes .pi/extensions/notify.ts", "Enter");
    await expectInDocs(await sees(terminal, /forget\.\n>$/, "> /trust yes", bench));
    expect(await ranIn(bench)).toEqual(["notify: loaded"]);
    await terminal.type("hello again", "Enter");
    await terminal.sees(/again\nDone\.\n>$/);
    expect(lastTold(bench)).toEqual({ hasNotify: true, hasText: true });
    await terminal.type("/quit", "Enter");
    await terminal.ended();
  }
  await pullChange(bench, {
    "src/index.ts": "export const version = 2;\n",
    "lib/message.ts": 'export const message = "The build is done, and so is the upload.";\n',
  });
  {
    await using terminal = await converse(bench);
    await expectInDocs(await sees(terminal, QUESTION, "Something here", bench));
    await terminal.type("6", "Enter");
    await expectInDocs(await sees(terminal, /6\n[^]*\nNumber:$/, "Number: 6", bench));
    expect(await ranIn(bench)).toEqual(["notify: loaded", "notify: gone"]);
    await terminal.type("1", "Enter");
    await terminal.sees(PROMPT);
    expect((await ranIn(bench)).slice(2)).toEqual(["notify: loaded"]);

    await terminal.type("/trust no", "Enter");
    await expectInDocs(await sees(terminal, /forget\.\n>$/, "> /trust no", bench));
    expect((await ranIn(bench)).slice(3)).toEqual(["notify: gone"]);
    await terminal.type("hello once more", "Enter");
    await terminal.sees(/more\nDone\.\n>$/);
    expect(lastTold(bench)).toEqual({ hasNotify: false, hasText: false });
  }
  await using terminal = await converse(bench);
  // Nothing is asked any more, and nothing of it loads.
  await terminal.sees(/held back[^]*\n>$/);
  expect((await ranIn(bench)).filter((line) => line === "notify: loaded")).toHaveLength(2);
});

const BOOBY_TRAPS = {
  ".pi/extensions/theirs.ts": `${NOTES}${note("M1")}\nexport default (pi) => pi.on("session_start", () => ${note("M2").replace(";", "")});\n`,
  ".pi/settings.json": JSON.stringify({ packages: ["./package"], shellCommandPrefix: 'echo prefix >> "$HOME/ran";' }),
  ".pi/package/package.json": JSON.stringify({ name: "package", pi: { extensions: ["./index.ts"] } }),
  ".pi/package/index.ts": `${NOTES}${note("package")}\nexport default () => {};\n`,
  ".pi/prompts/go.md": 'Go !`echo prompt >> "$HOME/ran"`\n',
  ".pi/agents/helper.md": '---\nname: helper\n---\n!`echo agent >> "$HOME/ran"`\n',
  ".pi/mcp.json": MCP,
  ".mcp.json": MCP,
  ".claude/settings.json": JSON.stringify({ hooks: { SessionStart: [{ command: 'echo hook >> "$HOME/ran"' }] } }),
};

test("F026: a no runs nothing of a project, and leaves a session of use", async () => {
  await using bench = await openWorkbench(() => ({ text: "Done." }), { files: BOOBY_TRAPS, git: true });
  await using terminal = await converse(bench);
  await terminal.sees(QUESTION);
  await terminal.type("5", "Enter");
  await terminal.sees(PROMPT);
  await terminal.type("hello", "Enter");
  await terminal.sees(/Done\.\n>$/);
  await terminal.type("/quit", "Enter");
  await terminal.ended();
  expect(await ranIn(bench)).toEqual([]);
});

test("F026: a question that nobody answers for 3 s runs nothing, and can be killed", async () => {
  await using bench = await openWorkbench([], { files: BOOBY_TRAPS, git: true });
  await using terminal = await converse(bench);
  await terminal.sees(QUESTION);
  await setTimeout(3_000);
  terminal.kill("SIGTERM");
  await terminal.ended();
  expect(await ranIn(bench)).toEqual([]);
});

test("F026: Ctrl-C at the question is a no for this time, and not remembered", async () => {
  await using bench = await openWorkbench(() => ({ text: "Done." }), { files: BOOBY_TRAPS, git: true });
  for (const key of ["C-c", "C-d", "Enter"]) {
    await using terminal = await converse(bench);
    const screen = await terminal.sees(QUESTION);
    expect(screen).toMatch(/with all rights of your account \(\d\):\n/);
    await terminal.type("", key);
    await terminal.sees(PROMPT);
    expect(await ranIn(bench)).toEqual([]);
  }
  expect((await bench.pi(["trust", "list"]).done).stdout).toBe("Nothing was decided yet.\n");
});

test("F026: after a yes what is for this agent runs, once", async () => {
  await using bench = await openWorkbench(() => ({ text: "Done." }), { files: BOOBY_TRAPS, git: true });
  await using terminal = await converse(bench);
  await terminal.sees(QUESTION);
  await terminal.type("1", "Enter");
  await terminal.sees(PROMPT);
  expect(await ranIn(bench)).toEqual(["M1", "package", "M2"]);
});

test("F040: the path in the question is the path that is stored, reached through a link and from below", async () => {
  await using bench = await openWorkbench([], { files: { ".pi/prompts/a.md": "a\n", "sub/x": "" }, git: true });
  const link = join(bench.home, "link");
  await symlink(bench.path, link);
  await using terminal = await converse(bench, join(link, "sub"));
  expect(await terminal.sees(QUESTION)).toContain(`\n  ${bench.path}\n`);
  await terminal.type("2", "Enter");
  await terminal.sees(PROMPT);
  const [record = ""] = await readdir(join(bench.agentDir, "trust.d"));
  const { project } = JSON.parse(await readFile(join(bench.agentDir, "trust.d", record), "utf8"));
  expect(project).toBe(bench.path);
});

test("F040: a worktree of an approved repository says so, and one key takes it over", async () => {
  await using bench = await openWorkbench([], { files: { ".pi/prompts/a.md": "a\n" }, git: true });
  expect((await bench.pi(["trust", "yes"]).done).code).toBe(0);
  const twin = join(bench.home, "twin");
  const env = { PATH: process.env.PATH, HOME: bench.home, GIT_CONFIG_NOSYSTEM: "1" };
  await promisify(execFile)("git", ["worktree", "add", "--quiet", twin], { cwd: bench.path, env });
  await using terminal = await converse(bench, twin);
  const screen = await terminal.sees(QUESTION);
  expect(screen).toContain(`It is a worktree of ${bench.path}, which you answered for; this one holds the same.`);
  expect(screen).toMatch(/1\. trust as in \S+: /);
  await terminal.type("1", "Enter");
  await terminal.sees(PROMPT);
  const { stdout } = await bench.pi(["trust"], { cwd: twin }).done;
  expect(stdout).toContain(`project    ${twin}\n`);
  expect(stdout).toMatch(/loads +1 prompt\n/);
});

test("attack 24: names that draw on the terminal stay on their line, and 5,000 of them on one screen", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, n) => [`.pi/prompts/\u001b[2J\u202e${n}.md`, "x\n"]),
  );
  files[".pi/extensions/\u001b[2K\rnothing to load.ts"] = "export default () => {};\n";
  await using bench = await openWorkbench([], { files });
  await using terminal = await openTerminal([process.execPath, PI_BIN, ...MODEL], {
    cwd: bench.path,
    env: { HOME: bench.home, NO_COLOR: "1" },
    columns: 80,
    rows: 24,
  });
  const screen = await terminal.sees(QUESTION);
  expect(screen.split("\n").length).toBeLessThanOrEqual(24);
  expect(screen).toMatch(/^This project brings things/);
  expect(screen).toContain("\n  extension .pi/extensions/\\u{1b}[2K\\u{d}nothing to load.ts\n");
  expect(screen).toMatch(/with its tools \(\d{4,}\):\n/);
  expect(screen).toMatch(/ more: pi trust show lists them all\n/);
});
