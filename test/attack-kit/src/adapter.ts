/** What the kit has to know about a loader. Types only, and the ways in. */
import type { TrustKind } from "./attack.ts";

/** The ways into an agent; an adapter has some of them, and may name others. */
export const WAYS = [
  "print",
  "json",
  "rpc",
  "interactive",
  "sdk",
  "sdk-mode",
  "resume",
  "switch",
  "fork",
  "reload",
  "extension-flag",
  "help",
  "version",
  "unknown-flag",
  "list-models",
  "doctor",
  "prompt",
  "trust-show",
  "trust-list",
] as const;
export type WayId = (typeof WAYS)[number];

export interface Way {
  id: WayId;
  /** A person can be asked. */
  asks: boolean;
  /** Says what was held back. */
  reports: boolean;
  /** Sends the prompts to the model. */
  talks: boolean;
  /** The listing of what the project would load. */
  lists?: boolean;
  /** The project is begun in an empty state, and changed while the process runs. */
  isLive?: boolean;
}

export interface Adapter {
  name: string;
  version: string;
  ways: readonly Way[];
  /** Why a way is missing, for the footnotes. */
  missing?: Partial<Record<WayId, string>>;
  /** Starts once, and waits for the end. Never fails for what the loader does; fails for what the adapter cannot do. */
  start(way: WayId, start: Start): Promise<Outcome>;
  /** Says yes to the project of a start, as a person would, so that later starts know. */
  trust(start: Start, kind: TrustKind): Promise<void>;
  /** Paths of the resources of which a person is told, before they say yes, that something is not covered by it. */
  uncovered?(start: Start): Promise<readonly string[]>;
  /** Keys of the project's settings file that are known to the loader, each with a value that would have an effect. */
  settings?(values: SettingValues): Record<string, unknown>;
  /** The agent directory below a home. Default `.pi/agent`. */
  agentDir?: string;
  /** Kept for the whole run, and closed with it. */
  close?(): Promise<void>;
}

/** What to set a setting to. */
export interface SettingValues {
  /** A program that leaves a mark. */
  program: string;
  /** Leads to the stranger's server. */
  url: string;
  /** A folder that is not there. */
  folder: string;
}

export interface Start {
  cwd: string;
  home: string;
  agentDir: string;
  /** Complete: nothing else is inherited. */
  env: Readonly<Record<string, string>>;
  /** An innocent project, for ways that begin in another place. */
  elsewhere: string;
  /** An OpenAI-style server, the model `scripted`; with this key. */
  provider: { url: string; apiKey: string };
  prompts: readonly string[];
  /** More arguments of a command line. */
  args: readonly string[];
  /** Say yes for this once, as with a flag. */
  approve?: boolean;
  /** For a way that is live: resolves when the project has been changed. */
  meanwhile: () => Promise<void>;
  timeoutMs: number;
}

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
  /** It had to be killed. */
  isLate: boolean;
  /** A question about the project was put to a person. */
  asked: boolean;
  /** It said that something was held back or refused. */
  reported: boolean;
}
