/**
 * How the process ends, whatever ends it.
 *
 *   work is done ────────────┐
 *   SIGINT SIGTERM SIGHUP ───┼──► signal fires ──► last steps, newest first ──► output flushed ──► exit code
 *   reader of stdout gone ───┘        (a deadline holds over all of it; a second signal exits at once)
 */
import { currentOwner } from "@pi-agent/kernel";
import { EXIT_CODES } from "./exit-codes.ts";
import { printError } from "./print-error.ts";
import type { Output } from "./stdout-guard.ts";

// After a signal people expect their prompt back within a second; a normal end may still have a session to store.
const EARLY_DEADLINE_MS = 900;
const STEPS_DEADLINE_MS = 10_000;
// The longest that Node's timers take.
const HOLD_MS = 2 ** 31 - 1;
const READER_GONE: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET", "EIO"]);

type Step = () => Promise<unknown> | void;

export interface Exit {
  /** Fires when the process is to end early. */
  readonly signal: AbortSignal;
  /** Adds something to do before the end. A step that throws is reported and stops no other. */
  before(step: Step): void;
  /** Lets `interrupt` have the next SIGINT, once, until it is undone. */
  onInterrupt(interrupt: () => void): () => void;
  /** Ends the process. The first call counts. */
  end(code: number): Promise<never>;
}

/** Takes charge of signals, of the output's errors, of what nobody caught, and keeps the process until its end. */
export function takeCharge(output: Output): Exit {
  const exit = new ProcessExit(output);
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => exit.onSignal(name));
  output.stream.on("error", (error: NodeJS.ErrnoException) => exit.onOutputError(error));
  // There is nowhere left to tell it.
  process.stderr.on("error", () => {});
  const report = (thrown: unknown) => exit.onUncaught(thrown);
  process.on("unhandledRejection", report).on("uncaughtException", report);
  process.on("exit", () => exit.onExit());
  // What never comes is waited for until somebody interrupts it: it is no success.
  setInterval(() => {}, HOLD_MS);
  return exit;
}

class ProcessExit implements Exit {
  readonly #output: Output;
  readonly #controller = new AbortController();
  readonly #steps: Step[] = [];
  #interrupt: (() => void) | undefined;
  #code: number | undefined;
  #ending: Promise<never> | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  before(step: Step): void {
    this.#steps.push(step);
  }

  onInterrupt(interrupt: () => void): () => void {
    this.#interrupt = interrupt;
    return () => {
      if (this.#interrupt === interrupt) this.#interrupt = undefined;
    };
  }

  end(code: number): Promise<never> {
    this.#code ??= code;
    this.#ending ??= this.#finish();
    return this.#ending;
  }

  onSignal(name: "SIGINT" | "SIGTERM" | "SIGHUP"): void {
    const interrupt = name === "SIGINT" ? this.#interrupt : undefined;
    this.#interrupt = undefined;
    if (this.#ending) {
      this.#code = EXIT_CODES[name];
      process.exit();
    } else if (interrupt) interrupt();
    else this.#endEarly(EXIT_CODES[name], name);
  }

  onOutputError(error: NodeJS.ErrnoException): void {
    if (READER_GONE.has(error.code ?? "")) {
      this.#endEarly(EXIT_CODES.answered, "the reader of the output is gone");
      return;
    }
    printError({
      what: "The output cannot be written",
      why: error.message,
      hint: "make room, or write elsewhere",
    });
    this.#code = EXIT_CODES.failed;
    this.#endEarly(EXIT_CODES.failed, "the output cannot be written");
  }

  /** What an extension left floating is told with its name and does not end the run (K14); what is ours does. */
  onUncaught(thrown: unknown): void {
    const owner = currentOwner();
    if (owner) {
      printError({
        what: `An extension failed where nobody was waiting: ${owner.name}`,
        why: thrown instanceof Error ? thrown.message : String(thrown),
        hint: "the run goes on; await or catch it in the extension",
      });
    } else {
      printError(thrown, { verbose: true });
      void this.end(EXIT_CODES.failed);
    }
  }

  /** Lets nobody else decide how the process ends. */
  onExit(): void {
    if (this.#code === undefined) {
      printError({
        what: "The process ended before its answer",
        why: "something in it, most likely an extension, called process.exit",
        hint: "run again with --no-extensions; pi doctor lists what is loaded",
      });
    }
    process.exitCode = this.#code ?? EXIT_CODES.failed;
  }

  #endEarly(code: number, reason: string): void {
    this.#controller.abort(reason);
    setTimeout(() => process.exit(this.#code), EARLY_DEADLINE_MS);
    void this.end(code);
  }

  /** The steps have a deadline; the output has none, because its reader may be slow. */
  async #finish(): Promise<never> {
    const deadline = new Promise<void>((resolve) => setTimeout(resolve, STEPS_DEADLINE_MS));
    for (const step of this.#steps.toReversed()) await Promise.race([runStep(step), deadline]);
    await Promise.all([this.#output.flush(), flushStderr()]);
    // What could not be written is told a moment later.
    await new Promise(setImmediate);
    return process.exit(this.#code);
  }
}

async function runStep(step: Step): Promise<void> {
  try {
    await step();
  } catch (thrown) {
    printError(thrown);
  }
}

function flushStderr(): Promise<void> {
  const { stderr } = process;
  if (!stderr.writable || stderr.writableLength === 0) return Promise.resolve();
  return new Promise((resolve) => stderr.write("", () => resolve()));
}
