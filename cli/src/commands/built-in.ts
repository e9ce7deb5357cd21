/** The sub-commands that the command brings itself; packages register more. */
import type { Agent } from "@pi-agent/kernel";
import type { Loaded, LoaderHost, LoadReport, TrustControl } from "@pi-agent/loader";
import type { Output } from "../stdout-guard.ts";

/** What a sub-command works with. */
export interface BuiltInIo {
  agent: Agent;
  host: LoaderHost;
  report: LoadReport;
  trust: TrustControl;
  output: Output;
  /** Loads what would load in another folder, with the same flags. Who calls it disposes of it. */
  loadAt(folder: string): Promise<Loaded>;
}

export interface BuiltIn {
  summary: string;
  /** Lists itself what was held back. */
  listsHeld?: boolean;
  /** Looks at what a project would load, and has nothing of it loaded. */
  isPlanOnly?: boolean;
  /** Answers the exit code. */
  run(args: readonly string[], io: BuiltInIo): Promise<number>;
}

export const BUILT_IN: ReadonlyMap<string, BuiltIn> = new Map<string, BuiltIn>([
  [
    "trust",
    {
      summary: "what this project would load; say yes, text only or no to it",
      listsHeld: true,
      isPlanOnly: true,
      run: async (args, io) => (await import("./trust.ts")).runTrust(args, io),
    },
  ],
  [
    "prompt",
    {
      summary: "the system prompt and the tools, part by part, with their price",
      run: async (args, io) => (await import("./prompt.ts")).showPrompt(args, io),
    },
  ],
  [
    "doctor",
    {
      summary: "what is loaded, what is missing, what is wrong",
      listsHeld: true,
      run: async (args, io) => (await import("./doctor.ts")).runDoctor(args, io),
    },
  ],
]);
