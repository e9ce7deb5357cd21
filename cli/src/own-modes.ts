/** The command's own ways to run, as modes that other packages find by their names: `text` and `json`. */
import { type AgentEvent, headlessUi, type Mode } from "@pi-agent/kernel";
import { answerText } from "./answer.ts";
import { createEventSource } from "./event-source.ts";
import { toWireEvent } from "./json-mode.ts";
import { paint } from "./print-error.ts";
import type { Output } from "./stdout-guard.ts";
import { showSteps } from "./steps.ts";
import { toAnswerText } from "./terminal-text.ts";

/** Runs what a person typed in one of them. */
type Run = (name: string, ...given: Parameters<Mode["run"]>) => Promise<number>;

/** Makes them; they write to this output. */
export function createOwnModes(output: Output, run: Run): Mode[] {
  const replays: Record<string, Mode["replay"]> = {
    text: (events) => replayText(events, output),
    json: (events) => replayJson(events, output),
  };
  return Object.entries(replays).map(([name, replay]) => ({
    name,
    hasUI: false,
    ui: () => headlessUi,
    run: (...given) => run(name, ...given),
    replay,
  }));
}

/** Shows what was said, and a line for each step, as a conversation does. */
async function replayText(events: AsyncIterable<AgentEvent>, output: Output): Promise<void> {
  const { source, emit } = createEventSource();
  const write = (line: string) => output.write(`${line}\n`);
  source.on("message_end", ({ message }) => {
    if (message.role === "toolResult") return;
    const text = message.role === "assistant" ? answerText(message) : textOf(message.content);
    if (text.trim() === "") return;
    write(message.role === "assistant" ? toAnswerText(text).trimEnd() : paint("bold", `> ${toAnswerText(text)}`));
  });
  showSteps(source, write);
  for await (const event of events) {
    await output.ready();
    await emit(event);
  }
}

async function replayJson(events: AsyncIterable<AgentEvent>, output: Output): Promise<void> {
  for await (const event of events) {
    await output.ready();
    output.write(`${JSON.stringify(toWireEvent(event))}\n`);
  }
}

function textOf(content: string | readonly { type: string; text?: string }[]): string {
  return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("\n");
}
