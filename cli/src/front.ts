/** Chooses the front end by flags and streams: who is told, and whether anybody can be asked. */
import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import { type FlagValue, headlessUi } from "@pi-agent/kernel";
import type { LoadMode } from "@pi-agent/loader";
import { isOn } from "./flags.ts";
import type { Terminal } from "./terminal.ts";

export interface Front {
  /** What extensions see as `ctx.mode`. */
  mode: LoadMode;
  /** A person to talk with; without one standard output carries results only. */
  terminal?: Terminal;
}

/** Chooses conversation when both streams are a terminal and nothing asks for less; else print, or what `--mode` names. */
export async function chooseFront(flags: ReadonlyMap<string, FlagValue>, isCommand: boolean): Promise<Front> {
  const named = flags.get("mode");
  const isPrint =
    isCommand ||
    isOn(flags, "print") ||
    flags.has("list-models") ||
    flags.has("export") ||
    !isTerminal(0) ||
    !isTerminal(1);
  if (typeof named === "string" && named !== "text") return headless(named);
  return isPrint ? headless("print") : conversation();
}

function headless(name: string): Front {
  return { mode: { name, hasUI: false, ui: headlessUi } };
}

async function conversation(): Promise<Front> {
  const { createTerminal } = await import("./terminal.ts");
  const { createTrustQuestion } = await import("./trust/question.ts");
  const terminal = createTerminal({ input: process.stdin, output: process.stdout, notices: process.stderr });
  const mode = { name: "conversation", hasUI: true, ui: terminal.ui, askTrust: createTrustQuestion(terminal) };
  return { mode, terminal };
}

/** Looks at the descriptor first, since few starts need the terminal's own module. */
function isTerminal(descriptor: number): boolean {
  return fstatSync(descriptor).isCharacterDevice() && isatty(descriptor);
}
