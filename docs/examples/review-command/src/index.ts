import type { ExtensionAPI } from "@pi-agent/kernel";

// More than this no model reads with care.
const MAX_DIFF_BYTES = 200_000;

/** Adds `/changes`, which only shows something, and `/review`, whose text becomes a prompt. */
export default function reviewCommand(pi: ExtensionAPI): void {
  /** Runs git without a shell, so that nothing in an argument is obeyed; a ref is never taken for an option. */
  async function diff(ref: string, ...options: string[]): Promise<string> {
    const args = ["diff", ...options, "--end-of-options", ref || "HEAD", "--"];
    const { code, stdout, stderr, truncated } = await pi.exec("git", args, { maxBuffer: MAX_DIFF_BYTES });
    if (truncated) {
      const message = `The change is larger than ${MAX_DIFF_BYTES / 1_000} kB.`;
      throw pi.error("diff_too_large", message, { hint: "Name a later ref, such as: /review HEAD~1" });
    }
    if (code === 0) return stdout;
    throw pi.error("diff_failed", `git found no difference to show: ${stderr.trim()}`, {
      hint: "Call it inside a repository, with a branch, a tag or a commit.",
    });
  }

  pi.registerCommand("changes", {
    description: "Show which files changed since a ref (left out: since the last commit)",
    async handler(ref, ctx) {
      ctx.ui.notify((await diff(ref, "--stat")) || "Nothing has changed.");
    },
  });

  pi.registerCommand("review", {
    description: "Have the model review what changed since a ref (left out: since the last commit)",
    async expand(ref) {
      const change = await diff(ref);
      if (change === "") {
        throw pi.error("nothing_to_review", "Nothing has changed.", { hint: "Name an older ref: /review main" });
      }
      return `Review this change. Name what is wrong or risky, with its place; leave style alone.\n\n${fence(change)}`;
    },
  });
}

/** A fence longer than any in the text, so that the text cannot end it. */
function fence(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}diff\n${text}${ticks}`;
}
