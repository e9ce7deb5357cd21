/**
 * What of a conversation is for the program and never for the model: /help, and commands that nobody has.
 *
 *   typed ──► commands with a handler ──► input hooks of extensions ──► here ──► commands that become a text ──► model
 */
import { existsSync } from "node:fs";
import type { Agent, Undo } from "@pi-agent/kernel";
import { nearestNames } from "@pi-agent/loader";
import { printError } from "./print-error.ts";
import { formatTable } from "./table.ts";
import { toTerminalText } from "./terminal-text.ts";

/** What ends a conversation. */
export const LEAVE: ReadonlySet<string> = new Set(["/quit", "/exit"]);

/** Answers `/help` with `write`, and tells commands that are not known. */
export function answerCommands(agent: Agent, write: (text: string) => void): Undo {
  return agent.on("input", ({ text, source }) => {
    const name = /^\/([a-z][\w:.-]*)(?=\s|$)/i.exec(text)?.[1];
    // Where there is such a file, its path begins the sentence.
    if (source !== "interactive" || name === undefined || existsSync(`/${name}`)) return undefined;
    if (agent.registry("command").has(name)) return undefined;
    if (name === "help") write(toTerminalText(listCommands(agent)));
    else printError(describeUnknown(agent, name));
    return { action: "handled" };
  });
}

function listCommands(agent: Agent): string {
  const registered = [...agent.registry("command")].map(([name, { value }]) => [`/${name}`, value.description ?? ""]);
  return formatTable([["/help", "what you read"], [[...LEAVE].join(", "), "leave, as Ctrl-D does"], ...registered]);
}

function describeUnknown(agent: Agent, name: string) {
  const known = [...agent.registry("command").keys(), "help", ...[...LEAVE].map((each) => each.slice(1))];
  const [nearest] = nearestNames(name, known, 1);
  return {
    what: `there is no command /${name}`,
    why: "nothing was sent to the model",
    hint: `${nearest === undefined ? "" : `did you mean /${nearest}? `}/help lists the commands; as a prompt, begin with another word`,
  };
}
