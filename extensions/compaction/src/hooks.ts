/** The hooks around a compaction. */
import type { Entry, ExtensionAPI, Json, Message, Point, Usage } from "@pi-agent/kernel";

/** Why it compacts: a person or a program wants it, the window fills up, or a provider found it too full. */
export type Reason = "manual" | "threshold" | "overflow";

/** What a summary is going to take the place of. */
export interface CompactionPreparation {
  /** From this entry on everything is kept; none where nothing is, because it would leave no room. */
  firstKeptEntryId: string | null;
  messagesToSummarize: readonly Message[];
  /** The beginning of a turn whose end is kept. */
  turnPrefixMessages: readonly Message[];
  isSplitTurn: boolean;
  tokensBefore: number;
  previousSummary?: string;
  /** Paths that calls in what is summarised touched, and those that an earlier summary lists. */
  fileOps: { read: Set<string>; written: Set<string>; edited: Set<string> };
  settings: { enabled: boolean; reserveTokens: number; keepRecentTokens: number };
}

/** What takes the place of what was said before an entry. */
export interface CompactionResult {
  summary: string;
  firstKeptEntryId: string | null;
  tokensBefore: number;
  estimatedTokensAfter: number;
  usage?: Usage;
  details?: Json;
}

interface CompactionTold {
  reason: Reason;
  /** The request that was too long is made again. */
  willRetry: boolean;
}

declare module "@pi-agent/kernel" {
  interface HookPoints {
    compaction_start: Point<"notify", { reason: Reason }>;
    compaction_end: Point<
      "notify",
      CompactionTold & { result?: CompactionResult; aborted: boolean; errorMessage?: string }
    >;
    /** May refuse it, or bring the summary. */
    session_before_compact: Point<
      "gate",
      CompactionTold & {
        preparation: CompactionPreparation;
        /** The way from the root to where the conversation stands. */
        branchEntries: readonly Entry[];
        customInstructions?: string;
        signal: AbortSignal;
      },
      {
        cancel?: boolean;
        compaction?: Pick<CompactionResult, "summary" | "firstKeptEntryId" | "usage" | "details"> & {
          tokensBefore?: number;
        };
      }
    >;
    session_compact: Point<"notify", CompactionTold & { compactionEntry: Entry<"compaction">; fromExtension: boolean }>;
    session_compact_failed: Point<
      "notify",
      CompactionTold & { errorMessage?: string; aborted: boolean; fromExtension: boolean }
    >;
  }
}

/** Declares the hooks. A gate that fails refuses nothing: a conversation must not be stuck because of it. */
export function declareHooks(pi: ExtensionAPI): void {
  pi.declareHook("compaction_start", { way: "notify", wire: true });
  pi.declareHook("compaction_end", { way: "notify", wire: true });
  pi.declareHook("session_before_compact", { way: "gate", onFault: "continue" });
  pi.declareHook("session_compact", { way: "notify" });
  pi.declareHook("session_compact_failed", { way: "notify" });
}
