/** What a program asks the loader for, and what it gets. Types only. */
import type {
  Agent,
  AgentError,
  ExtensionEntry,
  FlagValue,
  Host,
  LeakReport,
  MaybePromise,
  Registered,
  Ui,
} from "@pi-agent/kernel";
import type { AgentDefinition } from "./agent-file.ts";
import type { LoaderHost } from "./host.ts";
import type { PackageContext } from "./packages/index.ts";
import type { LoadPlan } from "./plan.ts";
import type { LoadReport } from "./report.ts";
import type { ResourceSource } from "./resources.ts";

/**
 * What a person says to a project: this content · its texts only · this folder, whatever it becomes · not now · never.
 * Anything else counts as `not-now`.
 */
export type TrustAnswer = "content" | "text" | "folder" | "not-now" | "never";

/** Asks about what of a plan is still held. */
export type AskTrust = (plan: LoadPlan, signal: AbortSignal) => MaybePromise<unknown>;

/** The front end: where questions go, and whether anybody is there to answer them. */
export interface LoadMode {
  name: string;
  hasUI: boolean;
  ui: Ui;
  askTrust?: AskTrust;
}

export interface LoadFlags {
  /** `--approve` or `--no-approve`, for this process; beats everything else. */
  approve?: boolean;
  /** `--trust sha256-…`: the digest of the one plan that is trusted, for this process. */
  trust?: string;
  /** `-e`, in the order typed, relative to `cwd`. */
  extensions?: readonly string[];
  noExtensions?: boolean;
  noContextFiles?: boolean;
  offline?: boolean;
  verbose?: boolean;
  /**
   * All other flags by long name; `undefined` for one without a value. They are checked once user scope has registered
   * its own, and fail with `unknown_flag` or `flag_value`. A function gets what is registered and checks for itself.
   */
  values?:
    | ReadonlyMap<string, FlagValue | undefined>
    | ((registered: ReadonlyMap<string, Registered<"flag">>) => ReadonlyMap<string, FlagValue>);
}

export interface LoadOptions {
  cwd: string;
  /** Default: the process's. */
  env?: NodeJS.ProcessEnv;
  /** Default: `agentDirOf(env)`. */
  agentDir?: string;
  flags?: LoadFlags;
  /** The default agent's packages, in load order. */
  official?: readonly ExtensionEntry[];
  /** Left out: nobody is there, and no project is trusted but by `flags.approve` or `trust`. */
  mode?: LoadMode;
  /** Where text resources come from; `"files"` are the loader's own. Default: only those. */
  sources?: readonly ("files" | ResourceSource)[];
  /** Stops after the decision: nothing of the project loads. */
  isPlanOnly?: boolean;
  /** Loads neither official packages nor extensions: for what manages them. */
  isBare?: boolean;
  /**
   * The agent to be, in place of the default one: nothing loads but what it picks. `isOwn`: it is the agent of the program
   * that asks, so that what lies beside its file is the program's own; else a person named the file.
   */
  agent?: { definition: AgentDefinition; isOwn?: boolean };
  /** The answer of embedding code, in place of a person's. Left out without a `mode`: untrusted. */
  trust?: TrustAnswer | AskTrust;
  /** Members of the host that the front end provides. */
  host?: Partial<Pick<Host, "shutdown" | "fetch">>;
  /** Ends a run that wants more calls of the model than this, with the outcome `max_turns`. */
  maxTurns?: number;
  signal?: AbortSignal;
}

/** What may be said about the project at any time. Extensions have no part in it. */
export interface TrustControl {
  /**
   * Decides anew, remembers it, and puts it in force in the running session: what may no longer load is disposed of, its
   * running tools are aborted, and the model is told. Answers the plan with what came of it, and a `fault` where it holds
   * for this process only, because it could not be saved. Fails with `session_busy`, `unknown_resource`, `trust_outdated`.
   */
  decide(answer: TrustAnswer, scope?: TrustScope): Promise<{ plan: LoadPlan; fault?: AgentError }>;
  /**
   * Takes back what is remembered about the project; what then waits for an answer no longer loads. Fails with
   * `session_busy`, `trust_not_saved`.
   */
  forget(): Promise<{ plan: LoadPlan; wasKnown: boolean }>;
}

export interface TrustScope {
  /** The id of a resource in the plan: about this one alone. */
  only?: string;
  /** Of the plan that was looked at: another content is not decided about. */
  digest?: string;
  /** Also for folders below that are no projects of their own. */
  below?: boolean;
}

/** What may be done about packages at any time. Extensions have no part in it. */
export interface PackageControl {
  /** For the operations on packages; it names the project only where its packages may be looked at and changed. */
  context: PackageContext;
  /** Why the project's packages are left alone (`project_not_trusted`); absent where they are not. */
  projectFault?: AgentError;
  /**
   * Called once the person has changed the project's packages: what changed is their own, and stays trusted as far as the
   * project was.
   */
  approveChange(): Promise<void>;
}

export interface Loaded {
  agent: Agent;
  host: LoaderHost;
  report: LoadReport;
  trust: TrustControl;
  packages: PackageControl;
  /** Unloads everything; answers what could not be cleaned up. */
  dispose(): Promise<LeakReport>;
}
