/** A terminal of two streams: keys go in, what is shown comes out. */
import { PassThrough } from "node:stream";
import { createTerminal } from "../src/terminal.ts";

export const CTRL_C = "\u0003";
export const CTRL_D = "\u0004";

export function createFakeTerminal() {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  const notices = new PassThrough();
  let shown = "";
  let watch: { text: string; seen: () => void } | undefined;
  output.on("data", (chunk: Buffer) => {
    shown += chunk.toString();
    look();
  });
  const look = () => {
    if (!watch || !shown.includes(watch.text)) return;
    const { text, seen } = watch;
    watch = undefined;
    shown = shown.slice(shown.indexOf(text) + text.length);
    seen();
  };
  return {
    terminal: createTerminal({ input: input as never, output: output as never, notices }),
    output,
    notices,
    type: (keys: string) => input.write(keys),
    endInput: () =>
      new Promise<void>((resolve) =>
        input
          .end()
          .resume()
          .once("end", () => resolve()),
      ),
    /** Resolves when `text` is shown, after what was waited for before. */
    sees: (text: string) =>
      new Promise<void>((seen) => {
        watch = { text, seen };
        look();
      }),
  };
}
