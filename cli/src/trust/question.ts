/** Asks a person at the terminal what of a project may load. */
import type { AskTrust, LoadPlan, TrustAnswer } from "@pi-agent/loader";
import type { Terminal } from "../terminal.ts";
import { toTerminalName } from "../terminal-text.ts";
import { describeDifference } from "./difference.ts";
import { recallProject } from "./memory.ts";
import { type Asked, describeChoices, describeQuestion, listChoices, listWaiting } from "./screen.ts";

// The time in which keys that were meant for something else still arrive, held ones too.
const READING_MS = 300;
// A diff of a few screens can be read in place.
const MOST_LINES = 200;

/** Makes the question. Nothing that was typed before it answers it; Enter, Ctrl-C and Ctrl-D are "not now". */
export function createTrustQuestion(terminal: Terminal): AskTrust {
  return (plan, signal) => askAbout(terminal, { plan, memory: recallProject(plan) }, signal);
}

/** Asks anew about everything of a project that needs trust, whatever was answered; "not now" changes nothing. */
export function askAnew(terminal: Terminal, plan: LoadPlan, signal: AbortSignal): Promise<TrustAnswer> {
  const items = plan.items.map((item) => {
    const isGranted = item.verdict === "loaded" && item.scope === "project" && item.kind !== "context-file";
    return isGranted ? { ...item, verdict: "held" as const } : item;
  });
  return askAbout(terminal, { plan: { ...plan, items }, memory: recallProject(plan), isAnew: true }, signal);
}

async function askAbout(terminal: Terminal, asked: Asked, signal: AbortSignal): Promise<TrustAnswer> {
  const choices = listChoices(asked);
  terminal.show(describeQuestion(asked, terminal.size));
  for (;;) {
    await terminal.forget(READING_MS);
    const typed = await terminal.ui.input("Number", undefined, { signal });
    const word = typed?.trim() ?? "";
    if (word === "") return "not-now";
    const answer = /^\d$/.test(word) ? choices[Number(word) - 1]?.answer : undefined;
    if (answer === undefined)
      terminal.show(`${toTerminalName(word, 20)} is none of these, so: not now. /trust asks again.`);
    if (answer !== "show") return answer ?? "not-now";
    terminal.show(`\n${await describeChanges(asked)}\n${describeChoices(choices)}`);
  }
}

async function describeChanges({ plan, memory }: Asked): Promise<string> {
  const lines = (await describeDifference(listWaiting(plan), memory)).trimEnd().split("\n");
  const rest = lines.length - MOST_LINES;
  return rest > 0
    ? `${lines.slice(0, MOST_LINES).join("\n")}\n… ${rest} more lines: pi trust diff\n`
    : `${lines.join("\n")}\n`;
}
