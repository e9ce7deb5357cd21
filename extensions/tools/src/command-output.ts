import { OutputTail, type ShownOutput } from "./output-tail.ts";
import { SafeText } from "./safe-text.ts";

/** At most one update in this time. */
const UPDATE_MS = 100;

export interface FinalOutput extends ShownOutput {
  /** The file with all of the output, when it is long. */
  path?: string;
  /** Bytes that are no text were replaced or left out. */
  isCleaned: boolean;
}

/** Gathers the output of a command, and tells how it grows. */
export class CommandOutput {
  readonly #tail: OutputTail;
  readonly #texts = { stdout: new SafeText(), stderr: new SafeText() };
  readonly #onUpdate: (text: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #hasEnded = false;

  constructor(limits: { maxLines: number; maxBytes: number; directory?: string }, onUpdate: (text: string) => void) {
    this.#tail = new OutputTail(limits);
    this.#onUpdate = onUpdate;
  }

  push(bytes: Uint8Array, stream: "stdout" | "stderr"): void {
    if (this.#hasEnded) return;
    this.#tail.push(this.#texts[stream].push(bytes), bytes);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#onUpdate(this.#tail.show().text);
    }, UPDATE_MS);
  }

  /** Takes no more, and answers what is shown. May be called again. */
  end(): FinalOutput {
    if (!this.#hasEnded) {
      this.#hasEnded = true;
      clearTimeout(this.#timer);
      for (const text of Object.values(this.#texts)) this.#tail.push(text.end(), NO_BYTES);
      this.#tail.close();
    }
    const isCleaned = this.#texts.stdout.isCleaned || this.#texts.stderr.isCleaned;
    return { ...this.#tail.show(), path: this.#tail.path, isCleaned };
  }
}

const NO_BYTES = new Uint8Array();
