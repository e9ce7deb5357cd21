/** Asks a person at a terminal, one question at a time. Between questions the terminal is left alone. */
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import type { DialogOptions, Ui } from "@pi-agent/kernel";
import { toTerminalText } from "./terminal-text.ts";

/** What a person answered: a line, or that they pressed Ctrl-C or Ctrl-D; `late` when the time was up. */
export type Reply = { line: string } | { key: "interrupt" | "end" | "late" };

export interface Terminal {
  /** Asks for a line. One that was pasted or typed ahead answers at once. */
  ask(question: string, options?: DialogOptions): Promise<Reply>;
  /** Drops what was typed so far, and what is typed in the next `readingMs`. */
  forget(readingMs?: number): Promise<void>;
  /** Shows a text of lines; nothing in it draws on the terminal. */
  show(text: string): void;
  /** As they are now. */
  readonly size: { rows: number; columns: number };
  /** Its questions leave what was typed ahead to `ask`. */
  ui: Ui;
}

export interface TerminalStreams {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
  notices: NodeJS.WritableStream;
}

interface Typed {
  /** Newest first. */
  history: string[];
  /** Whole lines that no question has taken yet. */
  ahead: string[];
  /** The begin of the line after them. */
  rest: string;
}

interface Question extends DialogOptions {
  text: string;
  prefill?: string;
  /** Nothing that was typed before it answers it. */
  isFresh?: boolean;
}

// What was typed before reaches us within this time.
const ARRIVAL_MS = 50;
// Stands for a line feed in a text that is offered.
const FOLD = "\u21b5";
const USUAL_SIZE = { rows: 24, columns: 80 };

/** Makes a terminal of two streams; notices go to a third. */
export function createTerminal(streams: TerminalStreams): Terminal {
  const typed: Typed = { history: [], ahead: [], rest: "" };
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };
  const ask: Terminal["ask"] = (text, options) =>
    inTurn(async () => {
      const line = typed.ahead.shift();
      if (line === undefined) {
        const prefill = typed.rest;
        typed.rest = "";
        return askNow(streams, typed, { ...options, text, prefill });
      }
      streams.output.write(`${toTerminalText(`${text}${line}`)}\n`);
      return keep(typed, line);
    });
  const forget = (readingMs = ARRIVAL_MS) =>
    inTurn(async () => {
      typed.ahead = [];
      typed.rest = "";
      await drain(streams.input, readingMs);
    });
  return {
    ask,
    forget,
    show: (text) => void streams.output.write(`${toTerminalText(text)}\n`),
    get size() {
      // A terminal that does not know its size says 0.
      const { rows, columns } = streams.output;
      return { rows: rows || USUAL_SIZE.rows, columns: columns || USUAL_SIZE.columns };
    },
    ui: createUi(
      (question) =>
        inTurn(async () => {
          if (question.isFresh && streams.input.isTTY) await drain(streams.input, ARRIVAL_MS);
          return askNow(streams, typed, question);
        }),
      { notices: streams.notices, offer: (text) => void (typed.rest = text) },
    ),
  };
}

async function askNow({ input, output }: TerminalStreams, typed: Typed, asked: Question): Promise<Reply> {
  if (input.readableEnded || input.destroyed) return { key: "end" };
  const lines = createInterface({ input, output, history: [...typed.history], historySize: 200 });
  const limits = [asked.signal, asked.timeout === undefined ? undefined : AbortSignal.timeout(asked.timeout)];
  const late = AbortSignal.any(limits.filter((limit) => limit !== undefined));
  const { promise, resolve } = Promise.withResolvers<Reply>();
  lines.once("SIGINT", () => resolve({ key: "interrupt" })).once("close", () => resolve({ key: "end" }));
  late.addEventListener("abort", () => resolve({ key: "late" }), { once: true });
  if (late.aborted) resolve({ key: "late" });
  lines.question(toTerminalText(asked.text), (line) => resolve(keep(typed, line)));
  // A paste brings many lines at once: the first is the answer.
  lines.on("line", (line) => typed.ahead.push(line));
  // Readline takes a line feed as the end of the line.
  const isFolded = asked.prefill?.includes("\n") ?? false;
  if (asked.prefill) lines.write(asked.prefill.replaceAll("\n", FOLD));
  const reply = await promise;
  if ("line" in reply) typed.rest += lines.line;
  lines.close();
  return "line" in reply && isFolded ? { line: reply.line.replaceAll(FOLD, "\n") } : reply;
}

function keep({ history }: Typed, line: string): Reply {
  if (line.trim() !== "" && line !== history[0]) history.unshift(line);
  return { line };
}

/** Reads and drops what waits in the input; raw, a terminal gives out even a line that is not ended. */
async function drain(input: NodeJS.ReadStream, forMs: number): Promise<void> {
  if (input.readableEnded || input.destroyed) return;
  const drop = () => {};
  if (input.isTTY) input.setRawMode(true);
  input.on("data", drop).resume();
  await setTimeout(forMs);
  input.off("data", drop).pause();
  if (input.isTTY) input.setRawMode(false);
}

function createUi(
  ask: (question: Question) => Promise<Reply>,
  { notices, offer }: { notices: NodeJS.WritableStream; offer: (text: string) => void },
): Ui {
  const askLine = async (text: string, options?: Omit<Question, "text">) => {
    const reply = await ask({ ...options, text });
    return "line" in reply ? reply.line : undefined;
  };
  return {
    async select(title, choices, dialog) {
      const list = choices.map((choice, index) => `  ${index + 1}. ${choice}`).join("\n");
      const typed = (await askLine(`${title}\n${list}\nNumber: `, dialog))?.trim() ?? "";
      return choices[Number(typed) - 1] ?? onlyWith(typed, choices);
    },
    async confirm(title, message, dialog) {
      const typed = await askLine(`${title}\n${message} [y/N] `, { ...dialog, isFresh: true });
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
    setEditorText: offer,
    custom: async () => undefined,
  };
}

/** The choice that alone has these words in it. */
function onlyWith(words: string, choices: readonly string[]): string | undefined {
  if (words === "") return undefined;
  const found = choices.filter((each) => each.toLowerCase().includes(words.toLowerCase()));
  return found.length === 1 ? found[0] : undefined;
}
