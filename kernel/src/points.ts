/** One hook point, and a way through its handlers. */
import type { Account } from "./account.ts";
import type { Context, Owner } from "./contract.ts";
import type { AgentError } from "./errors.ts";
import type { Way } from "./hook-points.ts";

/** What a handler's answer becomes when it threw or was late. */
export const FAULT = Symbol("fault");

type AnyHandler = (event: unknown, ...more: unknown[]) => unknown;
export interface HandlerRecord {
  owner: Owner;
  order: number;
  handler: AnyHandler;
  context: Context;
  account?: Account;
  /** Its extension is gone when it says so. */
  scope?: { readonly isActive: boolean };
}
export interface PointState {
  readonly name: string;
  /** Handlers may come before the package that declares their point. */
  declared: boolean;
  way: Way;
  wire: boolean;
  /** Fired in every turn: a slow handler is felt. */
  hot: boolean;
  onFault: "refuse" | "continue";
  /** Replaced, never changed: a dispatch goes on with the array it began with. */
  handlers: readonly HandlerRecord[];
  /** How often it was fired while somebody listened. */
  fired: number;
  /** It blocked once, so each of its handlers is timed from now on. */
  isSlow: boolean;
}
/** Gets each handler's answer; answers `true` when no further handler is to be asked, or the event that the next one gets. */
export type Take = (answer: unknown, owner: Owner) => boolean | object | void;

export interface HookFault {
  owner: Owner;
  event: string;
  error: AgentError;
}
export interface HookOptions {
  way: Way;
  wire?: boolean;
  onFault?: "refuse" | "continue";
}

export function heard(point: PointState): boolean {
  return point.handlers.length > 0;
}

/** A way through the handlers of a point. */
export interface Dispatch {
  readonly point: PointState;
  readonly handlers: readonly HandlerRecord[];
  /** What the next handler gets. */
  event: object;
  readonly take: Take | undefined;
  /** Whether `take` gets only those answers that are objects. */
  readonly isChoosy: boolean;
  /** How many dispatches each of its timings stands for; 0: it is not timed. */
  readonly weight: number;
}
