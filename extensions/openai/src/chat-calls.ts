/**
 * Tool calls of the chat format. A call is known by its index; servers that send none, or the same for all, tell a
 * new call by a new id or a name after whole arguments.
 */
import type { Answer } from "@pi-agent/wire";
import { readObject } from "./http.ts";

type WireArguments = string | object | null;

export interface WireCall {
  index?: number | null;
  id?: string | null;
  function?: { name?: string | null; arguments?: WireArguments } | null;
  custom?: { name?: string | null; input?: WireArguments } | null;
}

interface Call {
  key: string;
  id: string;
  name: string;
  raw: string;
  /** A call is told to the answer as soon as it has a name. */
  isOpen: boolean;
}

export function createCallReader(toolName: (name: string) => string) {
  const byIndex = new Map<number, Call>();
  const byId = new Map<string, Call>();
  const calls: Call[] = [];

  function find(wire: WireCall): Call | undefined {
    if (typeof wire.index === "number") return byIndex.get(wire.index);
    if (!wire.id) return calls.at(-1);
    return byId.get(wire.id) ?? (nameOf(wire) === "" ? calls.at(-1) : undefined);
  }
  function create(wire: WireCall): Call {
    const call = { key: `call ${calls.length}`, id: wire.id ?? "", name: "", raw: "", isOpen: false };
    calls.push(call);
    if (typeof wire.index === "number") byIndex.set(wire.index, call);
    if (call.id !== "") byId.set(call.id, call);
    return call;
  }
  function open(call: Call, answer: Answer) {
    if (call.isOpen) return;
    call.isOpen = true;
    answer.toolCall(call.key, { id: call.id, name: toolName(call.name) });
    answer.toolArguments(call.key, call.raw);
  }

  return {
    read(wire: WireCall, answer: Answer) {
      const name = nameOf(wire);
      const text = argumentText(wire.function?.arguments ?? wire.custom?.input);
      const found = find(wire);
      const call = found === undefined || isAnother(found, { id: wire.id ?? "", name, text }) ? create(wire) : found;
      if (call.id === "" && wire.id && !call.isOpen) call.id = wire.id;
      if (call.name === "") call.name = name;
      call.raw += text;
      if (call.isOpen) answer.toolArguments(call.key, text);
      else if (call.name !== "") open(call, answer);
    },
    /** A call that never got a name makes the answer malformed. */
    finish(answer: Answer) {
      for (const call of calls) open(call, answer);
    },
  };
}

function nameOf(wire: WireCall): string {
  return wire.function?.name ?? wire.custom?.name ?? "";
}

function argumentText(value: WireArguments | undefined): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * Tells whether a delta that was found by its index, its id or its place begins another call. The name alone does
 * not: some servers repeat it, and some change the id in every delta of one call.
 */
function isAnother(call: Call, delta: { id: string; name: string; text: string }): boolean {
  if (delta.name === "" || call.name === "") return false;
  const isSameId = delta.id !== "" && delta.id === call.id;
  if (isSameId || (delta.id === "" && delta.text === "")) return false;
  return delta.name !== call.name || (call.raw.endsWith("}") && readObject(call.raw) !== undefined);
}
