/** What an attack is. Types only, and the six mistakes. */
import type { Outcome, WayId } from "./adapter.ts";
import type { Site } from "./site.ts";

/** Every attack rests on one of these. */
export const MISTAKES = {
  before: "something runs before the question",
  door: "another way in skips the question",
  self: "the project answers its own question",
  identity: "the project's identity is spoofed",
  change: "the content changes after the answer",
  agent: "the agent, or an extension, writes the answer",
} as const;
export type Mistake = keyof typeof MISTAKES;

/** S: not loaded, and said so · Q: asked about · R: refused, with a reason · I: there, and without effect. */
export type Expectation = "S" | "Q" | "R" | "I";

export interface Attack {
  /** The number of a published kind of attack, or `own-<n>`. Part of file names. */
  id: string;
  title: string;
  mistake: Mistake;
  expect: Expectation;
  /** What a person said about the project as it was planted, before `change`. Left out: nobody was asked. */
  trust?: TrustKind;
  /** Where the answer was given. Default: the project. */
  answeredAt?(site: Site): string;
  /** Puts what is hostile into the project, or what will become it. */
  plant(site: Site): void | Promise<void>;
  /** What happens after the answer; at a reload, after the start. */
  change?(site: Site, acts: Acts): void | Promise<void>;
  /** What the start differs in. */
  start?: (site: Site) => StartChange;
  /** Why it needs a project of its own. Left out: it shares one. */
  alone?: string;
  /** The only ways it exists for, or those that it does not. */
  ways?: { only?: readonly WayId[]; not?: readonly WayId[]; why: string };
  /** Paths that a listing of the project has to name. */
  names?: readonly string[];
  /** Why a start may end without an answer. Left out: whatever is hostile in the project, the rest goes on. */
  mayEnd?: string;
  /** No digest can cover it: a mark is no failure where the person was told so, of this resource, before the answer. */
  isBeyondDigests?: true;
  /** Tells that the attack was stopped before the start, so that there is nothing left to tell. */
  isStopped?(seen: Seen): boolean;
  /** Finds what marks, words and connections do not show; answers what is wrong. */
  judge?(seen: Seen): string | undefined;
  control: Control;
}

export type TrustKind = "content" | "text" | "folder";

/** What can be done to a project after the answer. */
export interface Acts {
  /** Says yes again, to what is there now. */
  trust: (kind?: TrustKind) => Promise<void>;
  /** Lets the model call tools in the project, one after another. */
  agent: (...calls: readonly { name: string; arguments: Record<string, unknown> }[]) => Promise<Outcome>;
}

export interface StartChange {
  cwd?: string;
  home?: string;
  env?: Record<string, string>;
  args?: readonly string[];
  /** More prompts. */
  prompts?: readonly string[];
  /** Runs beside the start, until the signal. */
  beside?: (signal: AbortSignal) => Promise<void>;
}

/** What one start came to, for one attack. */
export interface Seen {
  site: Site;
  way: WayId;
  outcome: Outcome;
  /** Paths of the resources of which the person had been told that something is not covered. */
  uncovered: readonly string[];
  /** The bodies of all requests to the model. */
  requests: string;
}

/**
 * How an attack is known to be one. `trusted`: the same project, once approved, leaves the mark. `naive`: this does what
 * a careless loader would, and leaves the mark. `none`: why there is nothing that could.
 */
export type Control = "trusted" | { naive(site: Site): void | Promise<void> } | { none: string };
