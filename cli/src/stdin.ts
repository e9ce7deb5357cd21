/**
 * Reads what was piped into the command.
 *
 * With a prompt argument the pipe is an extra, and its writer may never write: a notice after two seconds, and on without
 * it after ten. Without one the pipe is the prompt, so it is waited for. Once something came, all of it is read, unless
 * it is no text.
 */
import type { Problem } from "./problem.ts";

// When a person starts to wonder, and how long a script may be kept waiting.
const NOTICE_MS = 2_000;
const GIVE_UP_MS = 10_000;

export interface StdinOptions {
  stdin: NodeJS.ReadStream;
  hasPrompt: boolean;
  notify: (message: string) => void;
  signal?: AbortSignal;
  noticeMs?: number;
  giveUpMs?: number;
}

const NOT_TEXT: Problem = {
  what: "What is piped in cannot be sent",
  why: "it holds zero bytes, so it is no text in UTF-8",
  hint: "save it to a file and name that in your prompt, so that tools can look at it; images: @image.png",
};

/** Reads piped input to its end, trimmed; `""` when there is none, after giving up, and when `signal` fires. */
export async function readStdin(options: StdinOptions): Promise<{ text: string; problem?: Problem }> {
  const { stdin, notify } = options;
  if (stdin.isTTY) return { text: "" };
  const { promise, resolve } = Promise.withResolvers<void>();
  const decoder = new TextDecoder();
  let text = "";
  let isBinary = false;
  const notice = setTimeout(() => notify(describeWait(options, text !== "")), options.noticeMs ?? NOTICE_MS);
  const giveUp = options.hasPrompt ? setTimeout(resolve, options.giveUpMs ?? GIVE_UP_MS) : undefined;
  stdin.on("data", (chunk: Uint8Array) => {
    clearTimeout(giveUp);
    isBinary ||= chunk.includes(0);
    if (isBinary) resolve();
    text += decoder.decode(chunk, { stream: true });
  });
  stdin.on("error", (error) => {
    notify(`standard input cannot be read: ${error.message}`);
    resolve();
  });
  stdin.once("end", resolve).once("close", resolve);
  options.signal?.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(notice);
  clearTimeout(giveUp);
  stdin.removeAllListeners("data").destroy();
  return isBinary ? { text: "", problem: NOT_TEXT } : { text: (text + decoder.decode()).trim() };
}

function describeWait(options: StdinOptions, hasBegun: boolean): string {
  if (hasBegun) return "still reading standard input";
  if (!options.hasPrompt) return "waiting for a prompt on standard input";
  const seconds = ((options.giveUpMs ?? GIVE_UP_MS) - (options.noticeMs ?? NOTICE_MS)) / 1_000;
  return `waiting for standard input; going on without it in ${seconds} s (skip this with: < /dev/null)`;
}
