import type { Entry, EntryType, Usage } from "@pi-agent/kernel";
import type { SessionHeader } from "../record.ts";

/** The fields that an entry is told by; all else has a sample. */
export interface Place {
  id: string;
  parentId: string | null;
  timestamp?: string;
}

const USAGE: Usage = {
  input: 100,
  output: 20,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 120,
  cost: { input: 0.1, output: 0.2, cacheRead: 0, cacheWrite: 0, total: 0.3 },
};
const AT = 1_767_323_045_678;

/** Makes a header as a session begins with. */
export function sampleHeader(id: string, more: Partial<SessionHeader> & Record<string, unknown> = {}): SessionHeader {
  return { type: "session", version: 3, id, timestamp: "2026-01-02T03:04:05.678Z", cwd: "/project", ...more };
}

/** Makes a user message. */
export function said(place: Place, text = `text of ${place.id}`): Entry {
  return entryOf("message", place, {
    message: { role: "user", content: [{ type: "text", text }], timestamp: AT },
  });
}

/** Makes an answer with a call, in the shape that a provider gives it. */
export function answered(place: Place, callId: string): Entry {
  const content = [
    { type: "thinking", thinking: "Which file?", thinkingSignature: "c2ln" },
    { type: "text", text: "I read it." },
    { type: "toolCall", id: callId, name: "read", arguments: { path: "a.ts", lines: [1, 2.5, null] } },
  ];
  const from = { api: "openai-completions", provider: "sample", model: "sample-1", usage: USAGE };
  return entryOf("message", place, {
    message: { role: "assistant", content, ...from, stopReason: "toolUse", timestamp: AT },
  });
}

/** Makes the result of a call. */
export function resulted(place: Place, toolCallId: string, text = "export {};\n"): Entry {
  const content = [{ type: "text", text }];
  return entryOf("message", place, {
    message: { role: "toolResult", toolCallId, toolName: "read", content, isError: false, timestamp: AT },
  });
}

/** Makes one entry of each other type; `targetId` is an entry that they may refer to. */
export const SAMPLES: Readonly<Record<Exclude<EntryType, "message">, (place: Place, targetId: string) => Entry>> = {
  model_change: (place) => entryOf("model_change", place, { provider: "sample", modelId: "sample-2" }),
  thinking_level_change: (place) => entryOf("thinking_level_change", place, { thinkingLevel: "high" }),
  compaction: (place, targetId) =>
    entryOf("compaction", place, {
      summary: "## Goal\nTo keep what counts.",
      firstKeptEntryId: targetId,
      tokensBefore: 150_000,
      usage: USAGE,
      details: { readFiles: ["a.ts"], modifiedFiles: [] },
    }),
  branch_summary: (place, targetId) =>
    entryOf("branch_summary", place, { fromId: targetId, summary: "Tried the other way.", details: { files: [] } }),
  context_edit: (place, targetId) =>
    entryOf("context_edit", place, { targetId, replacement: { content: [{ type: "text", text: "(cut)" }] } }),
  custom: (place) =>
    entryOf("custom", place, { customType: "sample", data: { deep: { list: [{ a: 1 }, "b", null] } } }),
  custom_message: (place) =>
    entryOf("custom_message", place, { customType: "sample", content: "a word", display: true, details: { n: 1 } }),
  label: (place, targetId) => entryOf("label", place, { targetId, label: `label of ${targetId}` }),
  session_info: (place) => entryOf("session_info", place, { name: `name of ${place.id}` }),
  usage: (place) =>
    entryOf("usage", place, { kind: "title", provider: "sample", model: "sample-1", usage: USAGE, note: "aside" }),
};

/** Puts an entry together as files have it: the type and the place come first. */
export function entryOf(type: string, { id, parentId, timestamp }: Place, fields: Record<string, unknown>): Entry {
  const entry: unknown = { type, id, parentId, timestamp: timestamp ?? "2026-01-02T03:04:06.000Z", ...fields };
  return entry as Entry;
}

/** A chain of user messages, each the child of the one before. */
export function chain(ids: readonly string[], parentId: string | null = null): Entry[] {
  return ids.map((id, at) => said({ id, parentId: ids[at - 1] ?? parentId }));
}
