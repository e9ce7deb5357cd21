import { open } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context, ExtensionAPI } from "@pi-agent/kernel";

/** Writes every entry of the transcript to the file of `--journal`, one line of JSON each. */
export default function journal(pi: ExtensionAPI): void {
  /** What is not on disk yet, in order; also half a line, where the disk took the other half. */
  let pending = Buffer.alloc(0);
  let lines: string[] = [];
  let writing: Promise<void> | undefined;
  let isTold = false;

  pi.registerFlag("journal", { type: "string", description: "Append every transcript entry to this file" });

  // Synchronous, for every entry: only queue here.
  pi.on("transcript_append", ({ entry }) => {
    if (pi.getFlag("journal")) lines.push(`${JSON.stringify(entry)}\n`);
  });

  // Awaited before each call of the model. A disk that hangs is waited for once: a write that is under way goes on.
  pi.on("transcript_flush", async ({ reason }, ctx) => {
    if (!writing) {
      writing = write(ctx).finally(() => {
        writing = undefined;
      });
      await writing;
    }
    const left = lines.length + pending.length;
    if (reason === "dispose" && left > 0) ctx.ui.notify("The journal lacks its last entries.", "error");
  });

  async function write(ctx: Context): Promise<void> {
    pending = Buffer.concat([pending, Buffer.from(lines.join(""))]);
    lines = [];
    if (pending.length === 0) return;
    const path = resolve(ctx.cwd, String(pi.getFlag("journal")));
    try {
      await using file = await open(path, "a", 0o600);
      // A disk that is nearly full takes a part: what it took is not written again.
      while (pending.length > 0) pending = pending.subarray((await file.write(pending)).bytesWritten);
      isTold = false;
    } catch (thrown) {
      const why = (thrown as Error).message;
      if (!isTold) ctx.ui.notify(`The journal cannot be written: ${why}. It is kept and tried again.`, "error");
      isTold = true;
    }
  }
}
