import type { Json, JsonObject } from "@pi-agent/kernel";
import type { NeutralRequest } from "./neutral-request.ts";

/** A tool call that the model makes. A text as `arguments` goes out verbatim, valid JSON or not. */
export interface ScriptedCall {
  name: string;
  arguments: JsonObject | string;
  /** Left out: made in the provider's own style; Gemini then sends none. */
  id?: string;
}

export type ScriptedStop = "stop" | "length" | "refusal" | "toolUse";

/** An answer instead of a stream. A body that is a text is sent as it is. */
export interface ScriptedFailure {
  status: number;
  headers?: Record<string, string>;
  /** Left out: what the provider says at this status. */
  body?: Json;
}

export interface ScriptedUsage {
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
  reasoning?: number;
}

/** What the model does once, in terms that every format knows: thinking first, then text, then calls. */
export interface Turn {
  thinking?: string;
  text?: string;
  calls?: ScriptedCall[];
  /** In how many pieces each thinking, text and argument text arrives; left out: pieces of about 12 characters. */
  deltas?: number;
  /** Left out: `toolUse` with calls, else `stop`. `length` cuts the last call's arguments in half. */
  stop?: ScriptedStop;
  usage?: ScriptedUsage;
  /** Wait before the first byte. */
  delayMs?: number;
  /** Sends this many events and then nothing, until the client leaves. */
  hangAfter?: number;
  /**
   * A status with its body before any stream, or what happens after half of the events: `cut` resets the connection,
   * `end` closes it cleanly without the last event, `error-event` sends the provider's error inside the stream.
   */
  fail?: ScriptedFailure | "cut" | "end" | "error-event";
}

/** A list is used up turn by turn; a function answers each request. */
export type Script = readonly Turn[] | ((request: NeutralRequest) => Turn | Promise<Turn>);

/** Answers the turn for a request, or `undefined` where the list has ended. */
export function createScriptReader(script: Script): (request: NeutralRequest) => Turn | undefined | Promise<Turn> {
  if (typeof script === "function") return script;
  let next = 0;
  return () => script[next++];
}

/** A turn with everything filled in that an encoder needs. */
export interface PreparedTurn {
  thinking: string;
  text: string;
  calls: PreparedCall[];
  stop: ScriptedStop;
  usage: Required<ScriptedUsage>;
  /** Splits a text as the turn says; an empty text has no pieces. */
  pieces: (text: string) => string[];
}

export interface PreparedCall {
  name: string;
  id: string | undefined;
  /** The arguments as they go out, cut in half where the turn stops for length. */
  argumentsText: string;
  /** `undefined` where the text is not a JSON object. */
  arguments: JsonObject | undefined;
  isCut: boolean;
}

const PIECE_LENGTH = 12;
// Four characters a token is the usual rough count.
const CHARACTERS_PER_TOKEN = 4;

/** Fills in a turn's defaults; `inputCharacters` is the size of what the model was sent. */
export function prepareTurn(turn: Turn, inputCharacters: number): PreparedTurn {
  const calls = turn.calls ?? [];
  const stop = turn.stop ?? (calls.length > 0 ? "toolUse" : "stop");
  const prepared = calls.map((call, index) => prepareCall(call, stop === "length" && index === calls.length - 1));
  const thinking = turn.thinking ?? "";
  const text = turn.text ?? "";
  const written = thinking + text + prepared.map((call) => call.name + call.argumentsText).join("");
  return {
    thinking,
    text,
    calls: prepared,
    stop,
    usage: {
      input: Math.ceil(inputCharacters / CHARACTERS_PER_TOKEN),
      output: Math.max(1, Math.ceil(written.length / CHARACTERS_PER_TOKEN)),
      cacheRead: 0,
      cacheWrite: 0,
      reasoning: Math.ceil(thinking.length / CHARACTERS_PER_TOKEN),
      ...turn.usage,
    },
    pieces: (whole) => splitText(whole, turn.deltas),
  };
}

function prepareCall(call: ScriptedCall, isCut: boolean): PreparedCall {
  const whole = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
  const argumentsText = isCut ? whole.slice(0, Math.ceil(whole.length / 2)) : whole;
  return { name: call.name, id: call.id, argumentsText, arguments: parseObject(whole), isCut };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function splitText(text: string, deltas: number | undefined): string[] {
  const points = Array.from(text);
  if (points.length === 0) return [];
  const size = deltas === undefined ? PIECE_LENGTH : Math.max(1, Math.ceil(points.length / deltas));
  const pieces: string[] = [];
  for (let at = 0; at < points.length; at += size) pieces.push(points.slice(at, at + size).join(""));
  return pieces;
}
