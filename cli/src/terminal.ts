/** Asks a person at a terminal, one question at a time. Between questions the terminal is left alone. */
import { createInterface } from "node:readline/promises";
import type { DialogOptions, Ui } from "@pi-agent/kernel";
import { toTerminalText } from "./terminal-text.ts";

/** What a person answered: a line, or that they pressed Ctrl-C or Ctrl-D; `late` when the time was up. */
export type Reply = { line: string } | { key: "interrupt" | "end" | "late" };

export interface Terminal {
  ask(question: string, options?: DialogOptions & { prefill?: string }): Promise<Reply>;
  ui: Ui;
}

export interface TerminalStreams {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
  notices: NodeJS.WritableStream;
}

/** Makes a terminal of two streams; notices go to a third. */
export function createTerminal(streams: TerminalStreams): Terminal {
  const history: string[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const ask: Terminal["ask"] = (question, options = {}) => {
    const reply = last.then(() => askNow(streams, history, { question, ...options }));
    last = reply.catch(() => {});
    return reply;
  };
  return { ask, ui: createUi(ask, streams.notices) };
}

async function askNow(
  { input, output }: TerminalStreams,
  history: string[],
  asked: DialogOptions & { question: string; prefill?: string },
): Promise<Reply> {
  if (input.readableEnded || input.destroyed) return { key: "end" };
  const lines = createInterface({ input, output, history: [...history], historySize: 200 });
  const limits = [asked.signal, asked.timeout === undefined ? undefined : AbortSignal.timeout(asked.timeout)];
  const late = AbortSignal.any(limits.filter((limit) => limit !== undefined));
  const { promise: key, resolve } = Promise.withResolvers<Reply>();
  lines.once("SIGINT", () => resolve({ key: "interrupt" })).once("close", () => resolve({ key: "end" }));
  late.addEventListener("abort", () => resolve({ key: "late" }), { once: true });
  const line = lines.question(toTerminalText(asked.question)).then((text) => {
    history.unshift(...(text.trim() === "" || text === history[0] ? [] : [text]));
    return { line: text };
  });
  // A question that is closed never answers.
  if (asked.prefill) lines.write(asked.prefill);
  try {
    return late.aborted ? { key: "late" } : await Promise.race([line, key]);
  } finally {
    lines.close();
  }
}

function createUi(ask: Terminal["ask"], notices: NodeJS.WritableStream): Ui {
  const askLine = async (question: string, options?: DialogOptions & { prefill?: string }) => {
    const reply = await ask(question, options);
    return "line" in reply ? reply.line : undefined;
  };
  return {
    async select(title, choices, dialog) {
      const list = choices.map((choice, index) => `  ${index + 1}. ${choice}`).join("\n");
      const typed = await askLine(`${title}\n${list}\nNumber: `, dialog);
      return choices[Number(typed) - 1];
    },
    async confirm(title, message, dialog) {
      const typed = await askLine(`${title}\n${message} [y/N] `, dialog);
      return /^y(es)?$/i.test(typed?.trim() ?? "");
    },
    input: (title, placeholder, dialog) => askLine(`${title}${placeholder ? ` (${placeholder})` : ""}: `, dialog),
    editor: (title, prefill, dialog) => askLine(`${title}: `, { ...dialog, prefill }),
    notify: (message, level = "info") =>
      void notices.write(`${level === "info" ? "" : `${level}: `}${toTerminalText(message)}\n`),
    // A line-by-line conversation has no place for what stays on the screen.
    setStatus: () => {},
    setWidget: () => {},
    setTitle: () => {},
    custom: async () => undefined,
  };
}
