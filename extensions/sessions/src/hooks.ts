/** The hooks around leaving a session or a place in it: the host asks for them through the service. */
import type { Entry, ExtensionAPI, Json, Point, Usage } from "@pi-agent/kernel";

/** What is about to happen in the tree of a session. */
export interface TreePreparation {
  targetId: string;
  oldLeafId: string | null;
  /** The deepest entry that both places come from. */
  commonAncestorId: string | null;
  /** What is left behind: from the common ancestor, which is not in it, to the old leaf. */
  entriesToSummarize: readonly Entry[];
  userWantsSummary: boolean;
  customInstructions?: string;
  label?: string;
}

declare module "@pi-agent/kernel" {
  interface HookPoints {
    /** Before another session is opened, or a new one begun. */
    session_before_switch: Point<
      "gate",
      { reason: "new" | "resume"; targetSessionFile?: string },
      { cancel?: boolean }
    >;
    /** Before a session is made of the way to an entry: up to it, or up to the one before it. */
    session_before_fork: Point<"gate", { entryId: string; position: "before" | "at" }, { cancel?: boolean }>;
    /** Before the conversation goes on from another entry. `summary` is used where the person asked for one. */
    session_before_tree: Point<
      "gate",
      { preparation: TreePreparation; signal: AbortSignal },
      {
        cancel?: boolean;
        summary?: { summary: string; details?: Json; usage?: Usage };
        customInstructions?: string;
        label?: string;
      }
    >;
    /** The conversation stands at another entry. */
    session_tree: Point<
      "notify",
      { newLeafId: string | null; oldLeafId: string | null; summaryEntry?: Entry; fromExtension?: boolean }
    >;
  }
}

/** Declares the hooks. A handler that fails refuses nothing: a person must get out of a session. */
export function declareHooks(pi: ExtensionAPI): void {
  pi.declareHook("session_before_switch", { way: "gate", onFault: "continue" });
  pi.declareHook("session_before_fork", { way: "gate", onFault: "continue" });
  pi.declareHook("session_before_tree", { way: "gate", onFault: "continue" });
  pi.declareHook("session_tree", { way: "notify" });
}
