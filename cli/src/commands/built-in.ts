/** The sub-commands that the command brings itself; packages register more. */
import type { Agent } from "@pi-agent/kernel";
import type { Loaded, LoaderHost, LoadReport, PackageControl, TrustControl } from "@pi-agent/loader";
import type { Exit } from "../exit.ts";
import type { Output } from "../stdout-guard.ts";

/** What a sub-command works with. */
export interface BuiltInIo {
  agent: Agent;
  host: LoaderHost;
  report: LoadReport;
  trust: TrustControl;
  packages: PackageControl;
  output: Output;
  exit: Pick<Exit, "signal" | "before">;
  /** Loads what would load in another folder, with the same flags. Who calls it disposes of it. */
  loadAt(folder: string): Promise<Loaded>;
}

export interface BuiltIn {
  summary: string;
  /** Lists itself what was held back. */
  listsHeld?: boolean;
  /** Looks at what a project would load, and has nothing of it loaded. */
  isPlanOnly?: boolean;
  /** Has no package and no extension loaded: it manages them. */
  isBare?: boolean;
  /** Answers the exit code. */
  run(args: readonly string[], io: BuiltInIo): Promise<number>;
}

/** What all commands on packages have in common: they look at a project, and load nothing of anybody. */
const ON_PACKAGES = { listsHeld: true, isPlanOnly: true, isBare: true } as const;

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
  [
    "install",
    {
      summary: "bring a package, or all that settings and lock file name",
      ...ON_PACKAGES,
      run: async (args, io) => (await import("./install.ts")).runInstall(args, io),
    },
  ],
  [
    "remove",
    {
      summary: "take a package away",
      ...ON_PACKAGES,
      run: async (args, io) => (await import("./remove.ts")).runRemove(args, io),
    },
  ],
  [
    "list",
    {
      summary: "every package: version, state, what it contains",
      ...ON_PACKAGES,
      run: async (args, io) => (await import("./list.ts")).runList(args, io),
    },
  ],
  [
    "update",
    {
      summary: "bring packages to what their sources mean today",
      ...ON_PACKAGES,
      run: async (args, io) => (await import("./update.ts")).runUpdate(args, io),
    },
  ],
  [
    "config",
    {
      summary: "turn single resources of packages on and off",
      ...ON_PACKAGES,
      run: async (args, io) => (await import("./config.ts")).runConfig(args, io),
    },
  ],
  [
    "create",
    {
      summary: "begin an extension, a skill or an agent of your own",
      ...ON_PACKAGES,
      run: async (args, io) => (await import("./create.ts")).runCreate(args, io),
    },
  ],
]);
