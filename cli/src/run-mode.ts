/** Reads the prompts and hands them to the mode. */
import { type FlagValue, type ServiceName, toAgentError } from "@pi-agent/kernel";
import { type Loaded, nearestNames } from "@pi-agent/loader";
import type { Settled } from "./arguments.ts";
import { chooseModel } from "./choose-model.ts";
import { chooseTools } from "./choose-tools.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { readFileArguments } from "./file-arguments.ts";
import { isOn } from "./flags.ts";
import { currentFolder, type Start, toUsageError } from "./load-agent.ts";
import { printError } from "./print-error.ts";
import type { Problem } from "./problem.ts";
import { composePrompts, type Prompt } from "./prompts.ts";
import { readStdin } from "./stdin.ts";
import { type Continued, describeContinued } from "./tell-continued.ts";

/** Runs the mode to its end; answers the exit code. What was typed wrong is told before anything is waited for. */
export async function runMode(start: Start, loaded: Loaded, settled: Settled): Promise<number> {
  const { front, typed } = start;
  const { agent, host } = loaded;
  const found = agent.registry("mode").get(front.mode.name);
  // The command's own are run below, with what is piped in.
  const registered = found?.owner.scope === "host" ? undefined : found?.value;
  if (!registered && !front.terminal && !OWN_MODES.has(front.mode.name))
    return refuse(describeUnknownMode(front.mode.name, loaded));
  applyTools(start, loaded);
  const named = await applyAgent(typed.flags, loaded);
  // Without a prompt nobody needs a key; with one, nobody should wait for a pipe to learn that there is none.
  const early = registered || hasPrompt(settled) ? undefined : await readPrompts(start, settled);
  if (early?.length === 0 && !front.terminal) return refuse(NO_PROMPT);
  await chooseModel(typed.flags, loaded, start.agent?.definition ?? named);
  if (host.flags.get("continue") === true) {
    const sessions = agent.service("sessions" as ServiceName) as { current?: Continued } | undefined;
    process.stderr.write(`${describeContinued(sessions?.current ?? {}, agent.transcript.size)}\n`);
  }
  await agent.dispatch("session_start", { reason: "startup" });
  if (registered) return registered.run(host, agent, [...settled.words, ...settled.files.map((path) => `@${path}`)]);
  return runOwnMode(start, loaded, early ?? (await readPrompts(start, settled)));
}

const OWN_MODES: ReadonlySet<string> = new Set(["print", "json"]);

/** Runs a prompt for who asks for one of the command's own modes by its name. */
export async function runOwnModeNamed(start: Start, loaded: Loaded, { name, args }: { name: string; args: string[] }) {
  const words = args.filter((each) => !each.startsWith("@"));
  const files = args.filter((each) => each.startsWith("@")).map((each) => each.slice(1));
  const mode = { ...start.front.mode, name };
  const prompts = await readPrompts(start, { flags: new Map(), words, files });
  return runOwnMode({ ...start, front: { mode } }, loaded, prompts);
}

async function runOwnMode({ front, output, exit, typed }: Start, loaded: Loaded, prompts: Prompt[]): Promise<number> {
  const { agent, host } = loaded;
  const { signal } = exit;
  if (signal.aborted) return EXIT_CODES.failed;
  if (front.terminal) {
    const { runConversation } = await import("./conversation-mode.ts");
    return runConversation({ ...loaded, terminal: front.terminal, output, exit, prompts });
  }
  if (front.mode.name === "json") {
    const { runJsonMode } = await import("./json-mode.ts");
    return runJsonMode({ agent, cwd: host.cwd, prompts, output, signal });
  }
  const { runPrintMode } = await import("./print-mode.ts");
  const isLogged = host.flags.get("log") === "stdout";
  return runPrintMode({ agent, prompts, output, isLogged, showsSteps: isOn(typed.flags, "verbose"), signal });
}

/** Switches the tools on that the flags say. Fails with `flag_value`. */
export function applyTools({ typed, agent: asked }: Pick<Start, "typed" | "agent">, { agent }: Loaded): void {
  const chosen = chooseTools(typed.flags, agent.registry("tool"), asked?.definition.tools);
  if (Array.isArray(chosen)) agent.setActiveTools(chosen);
  else if (chosen) throw toUsageError(chosen);
}

/**
 * Puts the agent in force that `--agent` names; answers its file and how hard it thinks. Fails with `flag_value` where it
 * cannot be used, and with `no_key`.
 */
export async function applyAgent(flags: ReadonlyMap<string, FlagValue>, { agent, host }: Loaded) {
  const name = host.flags.get("agent");
  const agents = agent.service("agents");
  if (typeof name !== "string" || !agents) return undefined;
  const { path = "", model, thinking } = agents.list().find((each) => each.name === name) ?? {};
  const keepsModel = flags.has("model") || flags.has("provider");
  const apiKey = flags.get("api-key");
  if (model && !keepsModel && typeof apiKey === "string") host.credentials.useApiKey(model.provider, apiKey);
  try {
    await agents.use(name, { keepsModel });
  } catch (thrown) {
    const { code, message, hint } = toAgentError(thrown);
    throw code === "no_key" ? thrown : toUsageError({ what: message, hint });
  }
  return { file: path, thinking };
}

function hasPrompt({ words, files }: Settled): boolean {
  return files.length > 0 || words.some((word) => word.trim() !== "");
}

async function readPrompts({ front, exit }: Start, settled: Settled): Promise<Prompt[]> {
  // Paths are typed where the person is, wherever the session was held.
  const files = await readFileArguments(settled.files, currentFolder());
  if (files.problem) throw toUsageError(files.problem);
  const notify = (message: string) => void process.stderr.write(`${message}\n`);
  const stdin = { stdin: process.stdin, hasPrompt: hasPrompt(settled), notify, signal: exit.signal };
  const piped = front.terminal ? { text: "" } : await readStdin(stdin);
  if (piped.problem) throw toUsageError(piped.problem);
  return composePrompts({ piped: piped.text, files, words: settled.words });
}

const NO_PROMPT: Problem = {
  what: "There is nothing to do",
  why: "no prompt was given, and standard input has none",
  hint: 'write pi -p "your task", or pipe one in; pi alone, on a terminal, opens a conversation',
};

function describeUnknownMode(name: string, { agent }: Loaded): Problem {
  const known = ["text", "json", ...agent.registry("mode").keys()];
  const [nearest] = nearestNames(name, known, 1);
  return {
    what: `--mode cannot be "${name}"`,
    why: `it takes one of: ${known.join(", ")}`,
    hint: nearest === undefined ? undefined : `did you mean --mode ${nearest}?`,
  };
}

function refuse(problem: Problem): number {
  printError(problem);
  return EXIT_CODES.usage;
}
