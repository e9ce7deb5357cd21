/**
 * The demo:
 *
 *   sample project in a new folder ─► scripted run, real tools ─► diff of the files before and after
 */
import { accessSync, constants, realpathSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import type { Agent, CliIo, Outcome, ServiceName } from "@pi-agent/kernel";
import type { Deck } from "../deck.ts";
import { MODEL } from "../provider.ts";
import { diffTexts } from "./diff.ts";
import { SAMPLE_PROJECT } from "./sample-project.ts";
import { demoTurns, PROMPT } from "./script.ts";
import { createScreen, type Screen, showDiff, showRun } from "./show.ts";

const USAGE = `Usage: pi demo [--fast]

A scripted model mends a small project in a new temporary folder. Its words are written beforehand, everything
else is real. It needs no key. --fast leaves out the pauses of typing.`;

// Faster than reading, slower than a blink.
const CHARS_PER_SECOND = 300;
const TOOLS = ["read", "bash", "edit"];

/** Runs the demo. Answers 0 when the tests of the sample project pass at its end, 2 for arguments it does not know. */
export async function runDemo(args: readonly string[], { io, deck }: { io: CliIo; deck: Deck }): Promise<number> {
  const unknown = args.find((arg) => !["--fast", "--help", "-h"].includes(arg));
  if (unknown !== undefined || args.includes("--help") || args.includes("-h")) {
    (unknown === undefined ? io.stdout : io.stderr).write(`${USAGE}\n`);
    return unknown === undefined ? 0 : 2;
  }
  const missing = TOOLS.filter((name) => !io.agent.registry("tool").has(name));
  if (missing.length > 0) {
    io.stderr.write(`The demo needs the tools ${missing.join(", ")}, which are not loaded. Load @pi-agent/tools.\n`);
    return 1;
  }
  const isWatched = "isTTY" in io.stdout && io.stdout.isTTY === true && !args.includes("--fast");
  deck.insert(demoTurns(nodeCommand()), isWatched ? CHARS_PER_SECOND : 0);
  return playDemo(io);
}

async function playDemo(io: CliIo): Promise<number> {
  const { agent, host } = io;
  const screen = createScreen(io);
  const folder = join(await mkdtemp(join(await realpath(tmpdir()), "pi-demo-")), "basket");
  await writeProject(folder);
  host.cwd = folder;
  // A session of its own: the one that is open belongs to another folder.
  agent.open({ id: createSessionId(), entries: [] });
  await agent.setModel(MODEL);
  agent.setActiveTools(TOOLS);
  screen.line("A scripted model, real tools, real files.", "bold");
  screen.line(`Project  ${folder}`);
  screen.line(`Prompt   ${PROMPT}`);
  const end = await runPrompt(io, { screen, folder });
  const isChanged = await showChanges(folder, screen);
  showPlaces(screen, { folder, session: sessionFile(agent) });
  if (end.outcome === "done" && end.testsPass && isChanged) return 0;
  screen.line(`The demo did not come to its end: ${end.problem ?? `the run ended as "${end.outcome}"`}`, "red");
  return 1;
}

/** A UUID version 7, as every session has. */
function createSessionId(): string {
  const time = Date.now().toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`;
}

async function writeProject(folder: string): Promise<void> {
  for (const [path, text] of Object.entries(SAMPLE_PROJECT)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

interface End {
  outcome?: Outcome;
  /** What the model's side said of a failure. */
  problem?: string;
  /** The last command, which ran the tests, succeeded. */
  testsPass: boolean;
}

/** Runs the prompt, showing it as it goes on, to its end or the person's interruption. */
async function runPrompt(
  { agent, signal }: CliIo,
  { screen, folder }: { screen: Screen; folder: string },
): Promise<End> {
  const end: End = { testsPass: false };
  const reason = "The demo works in its own folder only.";
  const undos = [
    showRun(agent, screen),
    // Where a host cannot be moved, the script must not touch what the person has there.
    agent.on("tool_call", (_event, { cwd }) => (cwd === folder ? undefined : { block: true, reason })),
    agent.on("message_end", ({ message }) => {
      if (message.role === "assistant") end.problem = message.errorMessage;
    }),
    agent.on("tool_execution_end", ({ toolName, isError }) => {
      if (toolName === "bash") end.testsPass = !isError;
    }),
    agent.on("agent_settled", ({ outcome }) => {
      end.outcome = outcome;
    }),
  ];
  const onAbort = () => void agent.abort("The demo was interrupted.");
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    if (signal.aborted) return { ...end, outcome: "aborted" };
    await agent.input(PROMPT);
    await agent.settled();
  } finally {
    signal.removeEventListener("abort", onAbort);
    for (const undo of undos) void undo();
  }
  return end;
}

/** Shows what differs from the sample project; answers whether anything does. */
async function showChanges(folder: string, screen: Screen): Promise<boolean> {
  let isChanged = false;
  screen.line();
  screen.line("What changed on the disk", "bold");
  for (const [path, before] of Object.entries(SAMPLE_PROJECT)) {
    const diff = diffTexts(path, before, await readFile(join(folder, path), "utf8"));
    if (diff === "") continue;
    isChanged = true;
    showDiff(diff, screen);
  }
  if (!isChanged) screen.line("  nothing");
  return isChanged;
}

function showPlaces(screen: Screen, { folder, session }: { folder: string; session: string | undefined }): void {
  screen.line();
  screen.line(`Folder   ${folder} (kept; it is yours to remove)`);
  screen.line(`Session  ${session ?? "kept in memory only"}`);
  if (session) screen.line(`Go on    cd ${folder} && pi --continue (with a key for a model)`);
}

/** Asks the service of whichever package keeps sessions. */
function sessionFile(agent: Agent): string | undefined {
  const sessions: unknown = agent.service("sessions" as ServiceName);
  const { current } = (sessions ?? {}) as { current?: { file?: unknown } };
  return typeof current?.file === "string" ? current.file : undefined;
}

/** Names this process's own Node: by its name where a shell finds just that one, else by its path. */
function nodeCommand(): string {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const first = folders.find((folder) => !isAbsolute(folder) || isExecutable(join(folder, "node")));
  const isOwn = first !== undefined && isAbsolute(first) && realpathSync(join(first, "node")) === ownNode();
  return isOwn ? "node" : `'${process.execPath.replaceAll("'", "'\\''")}'`;
}

function ownNode(): string {
  return realpathSync(process.execPath);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
