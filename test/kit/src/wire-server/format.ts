import type { IncomingHttpHeaders } from "node:http";
import type { FormatName, NeutralRequest } from "./neutral-request.ts";
import type { PreparedTurn } from "./turn.ts";

/** A request as a rule sees it. Rules run in order: what an earlier one has checked, a later one may rely on. */
export interface WireRequest<B = unknown> {
  /** As the path or the body says. */
  model: string;
  /** Parsed; what a format's first rules have not checked yet may have any shape. */
  body: B;
  bodyFault?: "not-json" | "lone-surrogate";
  headers: IncomingHttpHeaders;
  query: URLSearchParams;
  apiKey: string | undefined;
  server: { apiKey: string; models: readonly string[]; memory: Memory };
}

/**
 * What the server has handed out and expects to see again unchanged.
 * `signatures`: an opaque signature and what it came with. `companions`: a call or an item and what must come with it.
 */
export interface Memory {
  signatures: Map<string, string>;
  companions: Map<string, string>;
}

/** Why a request is refused, in the provider's words. */
export interface Refusal {
  message: string;
  /** 400 where it says nothing. */
  status?: number;
  /** The provider's name for this kind of error, where it is not that of a bad request. */
  type?: string;
  code?: string;
  /** The place in the request, as the provider writes it. */
  param?: string;
}

/** One thing that the real API refuses. */
export interface Rule<B = unknown> {
  name: string;
  refuse(request: WireRequest<B>): Refusal | undefined;
}

/** A wire format: how a request comes in, what is wrong with it, and how an answer goes out. */
export interface Format<B = unknown> {
  name: FormatName;
  /** Answers the model in the path, `""` where the body has it, `undefined` where the path is another format's. */
  match(path: string): string | undefined;
  readKey(headers: IncomingHttpHeaders, query: URLSearchParams): string | undefined;
  rules: readonly Rule<B>[];
  /** Only for a request that passed the rules. */
  read(request: WireRequest<B>): NeutralRequest;
  /** One text per event, framed. */
  encode(turn: PreparedTurn, request: WireRequest<B>): string[];
  streamHeaders(): Record<string, string>;
  /** The events of a failure inside a stream. */
  errorEvents(): string[];
  errorBody(refusal: Refusal & { status: number }): unknown;
}

/** Answers the first rule that refuses, with its reason. */
export function findRefusal<B>(
  rules: readonly Rule<B>[],
  request: WireRequest<B>,
): { rule: string; refusal: Refusal } | undefined {
  for (const rule of rules) {
    const refusal = rule.refuse(request);
    if (refusal) return { rule: rule.name, refusal };
  }
  return undefined;
}

/** Answers the first answer of `look` that is one. */
export function first<T, R>(items: readonly T[], look: (item: T, index: number) => R | undefined): R | undefined {
  for (const [index, item] of items.entries()) {
    const found = look(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
