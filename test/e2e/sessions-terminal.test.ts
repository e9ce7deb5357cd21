import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { PI_BIN } from "@pi-agent/testing/house";
import { beforeEach, expect, test, vi } from "vitest";
import { HAS_TMUX, openTerminal, type TestTerminal } from "./tmux.ts";
import { openWorkbench, readSessions, type Workbench } from "./workbench.ts";

// The command is started several times, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });
beforeEach(({ skip }) => skip(!HAS_TMUX, "needs tmux"));

const MODEL = ["--model", "wire-anthropic/scripted"];
const PROMPT = /\n>$/;
const QUESTION = /\nNumber:$/;
const ANSWERS: Readonly<Record<string, string>> = {
  "retry the download": "It tries three times now.",
  "wait longer each time": "It waits 1, 2 and 4 seconds.",
  "use p-retry instead": "p-retry does it now.",
  "use p-retry instead, and log": "p-retry does it, and each try is logged.",
};

function converse({ home, path: cwd }: Workbench, ...flags: string[]): Promise<TestTerminal> {
  return openTerminal([process.execPath, PI_BIN, ...MODEL, ...flags], { cwd, env: { HOME: home, NO_COLOR: "1" } });
}

/** Answers from the table; a request for a summary gets one. */
function answer({ system, messages }: { system: string; messages: readonly { text: string }[] }) {
  if (system.includes("notes for a colleague")) return { text: "## Goal\nTo make the download try again by hand." };
  return { text: ANSWERS[messages.at(-1)!.text] ?? "Done." };
}

/** Makes what differs from run to run what the page has: ids in the order in which they are seen, times, folders. */
function createReader({ path, agentDir }: Workbench) {
  const ids = new Map<string, string>();
  const stand = (id: string, make: (place: number) => string) => {
    const known = ids.get(id) ?? make(ids.size + 1);
    ids.set(id, known);
    return known;
  };
  return (screen: string): string =>
    screen
      .replaceAll(path, "/home/you/project")
      .replaceAll(agentDir, "/home/you/.pi/agent")
      .replaceAll(/--[\w-]*-project--/g, "--home-you-project--")
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z/g, "2026-03-02T09-14-07-512Z")
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d\b/g, "2026-03-02 09:20")
      .replaceAll(/(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?\b/g, (id) =>
        stand(id.slice(0, 13), (n) => `019cad${String(n).padStart(2, "0")}-5d1e`).concat(
          id.length > 13 ? "-7c3a-9f4b-2d8e6a107c55" : "",
        ),
      )
      .replaceAll(/\b[0-9a-f]{8}\b(?!-)/g, (id) => stand(id, (n) => `5e2f1${String(n * 37).padStart(3, "0")}`))
      .replaceAll(/by this process, \d+/g, "by this process, 4242")
      .replaceAll(/[\d,]+ tokens \(.*$/gm, "4,120 tokens (…)")
      .replaceAll(/context {2}[\d,]+ of/g, "context  1,045 of");
}

async function readPage(): Promise<string> {
  return readFile(new URL("../../docs/persistence.md", import.meta.url), "utf8");
}

test("one whole journey at a terminal: back in the tree, a summary, a label, a fork, resume, export, quit, continue, as the page has it", async () => {
  await using bench = await openWorkbench(answer as never);
  const page = await readPage();
  const read = createReader(bench);
  // What is on the screen since `from`, and what is typed at its end, is on the page.
  const sees = async (terminal: TestTerminal, end: RegExp, from: string, typed = "") => {
    const screen = await terminal.sees(end);
    const shown = read(screen.slice(screen.lastIndexOf(from)).replace(/\n>$/, ""));
    expect(page).toContain(`\n${shown}${typed}\n`);
  };
  {
    await using terminal = await converse(bench);
    await terminal.sees(PROMPT);
    await terminal.type("retry the download", "Enter");
    await terminal.sees(/three times now\.\n>$/);
    await terminal.type("wait longer each time", "Enter");
    await terminal.sees(/4 seconds\.\n>$/);
    await terminal.type("/tree", "Enter");
    await sees(terminal, QUESTION, "> /tree", " 3");
    await terminal.type("3", "Enter");
    await terminal.sees(/Keep a summary[^>]+Number:$/);
    await terminal.type("2", "Enter");
    // What was said there stands where one types.
    await terminal.sees(/\n> wait longer each time$/);
    await sees(terminal, /\n> wait longer each time$/, "Keep a summary");
    await terminal.type("", "C-u");
    await terminal.type("use p-retry instead", "Enter");
    await terminal.sees(/p-retry does it now\.\n>$/);
    await terminal.type("/label . p-retry", "Enter");
    await sees(terminal, /\[p-retry\][^>]+\n>$/, "> /label");
    await terminal.type("/name Downloads", "Enter");
    await terminal.sees(/called: Downloads\n>$/);
    await terminal.type("/tree", "Enter");
    await sees(terminal, QUESTION, "> /tree");
    await terminal.type("", "Enter");
    await terminal.sees(/stays where it is\.\n>$/);
    await terminal.type("/fork", "Enter");
    await sees(terminal, QUESTION, "> /fork", " 2");
    await terminal.type("2", "Enter");
    await terminal.sees(/\n> use p-retry instead$/);
    await sees(terminal, /\n> use p-retry instead$/, "A session of its own");
    await terminal.type(", and log", "Enter");
    await terminal.sees(/each try is logged\.\n>$/);
    await terminal.type("/resume", "Enter");
    await sees(terminal, QUESTION, "> /resume");
    await terminal.type("Downloads", "Enter");
    await terminal.sees(/Going on with: Downloads\n>$/);
    await terminal.type("/export downloads.html", "Enter");
    await terminal.sees(/Written: .+downloads\.html\n>$/);
    await terminal.type("/session", "Enter");
    await sees(terminal, /\ncontext .+\n>$/, "> /session");
    await terminal.type("/quit", "Enter");
    await terminal.ended();
  }
  expect(await readdir(bench.path)).toContain("downloads.html");
  const exported = await readFile(join(bench.path, "downloads.html"), "utf8");
  for (const text of Object.values(ANSWERS).slice(0, 3)) expect(exported).toContain(text);
  {
    await using terminal = await converse(bench, "--continue");
    await terminal.sees(PROMPT);
    await terminal.type("/tree", "Enter");
    await terminal.sees(/you: use p-retry instead[^>]+Number:$/);
    await terminal.type("", "Enter");
    await terminal.sees(/stays where it is\.\n>$/);
    await terminal.type("/quit", "Enter");
    await terminal.ended();
  }
  expect(await readSessions(bench.agentDir)).toHaveLength(2);
});

test("without a conversation: --export writes, --fork goes on with a copy, pi sessions lists, --resume says what to type", async () => {
  await using bench = await openWorkbench(answer as never);
  await bench.ask("retry the download", "--name", "Downloads").done;
  const [[header] = []] = await readSessions(bench.agentDir);
  const id = String(header?.id);
  const exported = await bench.pi(["--export", id, "page.html"]).done;
  expect(exported).toMatchObject({ code: 0, stdout: `${join(bench.path, "page.html")}\n`, stderr: "" });
  expect(await readFile(join(bench.path, "page.html"), "utf8")).toContain("It tries three times now.");
  const forked = await bench.ask("wait longer each time", "--fork", id).done;
  expect(forked).toMatchObject({ code: 0, stdout: "It waits 1, 2 and 4 seconds.\n" });
  const listed = await bench.pi(["sessions", "list", "--json"]).done;
  expect(JSON.parse(listed.stdout)).toHaveLength(2);
  const resumed = await bench.ask("go on", "--resume").done;
  expect(resumed.code).not.toBe(0);
  expect(resumed.stderr).toMatch(/^error: --resume asks .+\n {2}try: .+--session .+--continue/m);
  const asked = await bench.ask("/fork", "--continue").done;
  expect(asked.stderr).toMatch(/\n {2}why: in mode print nobody can be asked\n {2}try: \/fork /);
});
