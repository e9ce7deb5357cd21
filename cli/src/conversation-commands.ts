/**
 * What of a conversation is for the program and never for the model: /help, /trust, /reload, /new, and commands that
 * nobody has.
 *
 *   typed ──► /quit, /trust, /reload, /new ──► commands with a handler ──► input hooks of extensions
 *         ──► /help and the unknown ──► commands that become a text ──► model
 */
import { existsSync } from "node:fs";
import { type Agent, type Host, toAgentError, type Undo } from "@pi-agent/kernel";
import { nearestNames } from "@pi-agent/loader";
import { printError } from "./print-error.ts";
import { formatTable } from "./table.ts";
import { toTerminalText } from "./terminal-text.ts";

/** What ends a conversation. */
export const LEAVE: ReadonlySet<string> = new Set(["/quit", "/exit"]);

// No extension's: what a project brings must not answer for the person.
const TRUST = "/trust";
const TRUST_HELP = "what this project may load; /trust yes, text, no, forget, show, diff [PATH]";

/** Tells whether a line is about trust. */
export function isAboutTrust(text: string): boolean {
  return text === TRUST || text.startsWith(`${TRUST} `);
}

export type ChangingHost = Pick<Host, "reload" | "newSession">;

const CHANGES: Readonly<Record<string, { what: string; done: string; change(host: ChangingHost): Promise<unknown> }>> =
  {
    "/reload": {
      what: "read settings and extensions anew",
      done: "Reloaded.",
      change: (host) => host.reload(),
    },
    "/new": {
      what: "begin a new session",
      done: "A new session.",
      change: (host) => host.newSession(),
    },
  };

/** Runs what changes the agent under the conversation; answers whether the text was such a command. */
export async function changeAgent(
  { agent, host }: { agent: Agent; host: ChangingHost },
  text: string,
  write: (text: string) => void,
): Promise<boolean> {
  const command = Object.hasOwn(CHANGES, text) ? CHANGES[text] : undefined;
  // An extension's command of that name is meant.
  if (!command || agent.registry("command").has(text.slice(1))) return false;
  try {
    await command.change(host);
    write(`${command.done}\n`);
  } catch (thrown) {
    const { message, hint } = toAgentError(thrown);
    printError({ what: `${text} failed`, why: message, hint: hint ?? "Try again when the agent is idle." });
  }
  return true;
}

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
  const own = Object.entries(CHANGES).map(([name, { what }]) => [name, what]);
  const leave = [[...LEAVE].join(", "), "leave, as Ctrl-D does"];
  return formatTable([["/help", "what you read"], [TRUST, TRUST_HELP], ...own, leave, ...registered]);
}

function describeUnknown(agent: Agent, name: string) {
  const own = [...LEAVE, TRUST, ...Object.keys(CHANGES)].map((each) => each.slice(1));
  const known = [...agent.registry("command").keys(), "help", ...own];
  const [nearest] = nearestNames(name, known, 1);
  return {
    what: `there is no command /${name}`,
    why: "nothing was sent to the model",
    hint: `${nearest === undefined ? "" : `did you mean /${nearest}? `}/help lists the commands; as a prompt, begin with another word`,
  };
}
