/**
 * Shows what an operation on packages is doing, once it takes longer than half a second: on a terminal one line that is
 * written anew, on a pipe a line for each thing that is still being done when it is looked at.
 */
import type { PackageProgress } from "@pi-agent/loader";
import { toTerminalLine } from "../terminal-text.ts";

export interface Progress {
  report(progress: Pick<PackageProgress, "step" | "what" | "done" | "total">): void;
  /** Takes the line away, until something new is reported. */
  clear(): void;
  /** Takes the line away for good. */
  end(): void;
}

export type ProgressStream = Pick<NodeJS.WriteStream, "write"> & { isTTY?: boolean; columns?: number };

const SILENT_MS = 500;
const FRAME_MS = 100;
const USUAL_COLUMNS = 80;
const CLEAR_LINE = "\r\u001b[K";

const VERBS: Record<PackageProgress["step"], string> = {
  waiting: "waiting for another pi, which is changing",
  resolving: "looking up",
  fetching: "fetching",
  unpacking: "unpacking",
  running: "running",
  saving: "saving",
};

/** Begins to watch an operation. */
export function createProgress(stream: ProgressStream = process.stderr): Progress {
  let text = "";
  let shown = "";
  let begin = performance.now();
  const draw = () => {
    const tookMs = performance.now() - begin;
    if (text === "" || tookMs < SILENT_MS) return;
    if (!stream.isTTY) {
      if (text !== shown) stream.write(`${toTerminalLine(text, Number.POSITIVE_INFINITY)}\n`);
    } else {
      const line = `${text} · ${Math.floor(tookMs / 1000)} s`;
      // The last column stays empty, so that no terminal begins a new line.
      stream.write(`${CLEAR_LINE}${toTerminalLine(line, (stream.columns || USUAL_COLUMNS) - 1)}`);
    }
    shown = text;
  };
  const timer = setInterval(draw, stream.isTTY ? FRAME_MS : SILENT_MS);
  timer.unref();
  const clear = () => {
    if (stream.isTTY && shown !== "") stream.write(CLEAR_LINE);
    text = "";
    shown = "";
    // What a person took to answer is no part of what comes after.
    begin = performance.now();
  };
  return {
    report: ({ step, what, done, total }) => {
      text = `${VERBS[step]} ${what}${total === undefined ? "" : ` (${done ?? 0} of ${total})`}`;
    },
    clear,
    end: () => {
      clearInterval(timer);
      clear();
    },
  };
}
