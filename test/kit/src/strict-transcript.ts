import type { AssistantMessage, Message, ToolCall } from "@pi-agent/kernel";
import { isObject, isWellFormed } from "./wire-server/json-values.ts";

/** Fails, with every rule that is broken, where a strict provider would refuse a conversation such as `transcript.project()`. */
export function assertValidForStrictProvider(messages: readonly Message[]): void {
  const problems = listStrictProblems(messages);
  if (problems.length === 0) return;
  const outline = messages.map((message, at) => `  ${at}: ${outlineOf(message)}`).join("\n");
  throw new Error(`A strict provider refuses this conversation:\n- ${problems.join("\n- ")}\nIt is:\n${outline}`);
}

/**
 * Lists what a strict provider would refuse, each with the place of its message.
 *
 *   roles       user, assistant, toolResult, custom; the first is not the assistant's; failed and aborted answers are not sent
 *   calls       each has exactly one result, directly after its message, under its own name; no result without a call
 *   call ids    not empty, and unique within one message; names are not empty, arguments are an object
 *   texts       no block of nothing but white space; every string is well-formed Unicode
 */
export function listStrictProblems(messages: readonly Message[]): string[] {
  const problems: string[] = [];
  let open = new Map<string, ToolCall>();
  let answered = new Set<string>();
  const closeCalls = (at: number) => {
    for (const { id } of open.values()) problems.push(`message ${at}: the call ${id} has no result directly after it`);
    open = new Map();
    answered = new Set();
  };
  messages.forEach((message, at) => {
    const tell = (problem: string) => void problems.push(`message ${at}: ${problem}`);
    if (at === 0 && message.role === "assistant") tell("the conversation begins with an answer");
    for (const problem of contentProblems(message)) tell(problem);
    if (message.role === "toolResult") {
      const { toolCallId: id, toolName } = message;
      const call = open.get(id);
      if (call && call.name !== toolName)
        tell(`the result of ${id} names ${toolName}, and the call names ${call.name}`);
      if (!open.delete(id))
        tell(answered.has(id) ? `a second result of ${id}` : `a result of ${id}, which no call before it asked for`);
      answered.add(id);
      return;
    }
    closeCalls(at - 1);
    if (message.role === "assistant") open = readCalls(message, tell);
  });
  closeCalls(messages.length - 1);
  return problems;
}

function readCalls(message: AssistantMessage, tell: (problem: string) => void): Map<string, ToolCall> {
  if (message.stopReason === "error" || message.stopReason === "aborted")
    tell(`an answer that ended as ${message.stopReason}`);
  const calls = new Map<string, ToolCall>();
  for (const block of message.content) {
    if (block.type !== "toolCall") continue;
    if (calls.has(block.id)) tell(`two calls with the id ${block.id}`);
    if (block.id === "" || block.name === "") tell("a call without an id or a name");
    if (!isObject(block.arguments)) tell(`the arguments of ${block.id} are no object`);
    calls.set(block.id, block);
  }
  return calls;
}

const BLOCKS: Record<Message["role"], readonly string[]> = {
  user: ["text", "image"],
  custom: ["text", "image"],
  toolResult: ["text", "image"],
  assistant: ["text", "thinking", "toolCall"],
};

function contentProblems({ role, content }: Message): string[] {
  const problems: string[] = [];
  if (!Object.hasOwn(BLOCKS, role)) return [`the role ${JSON.stringify(role)} is none that a provider knows`];
  if (!isWellFormed(content)) problems.push("a string that is not well-formed Unicode");
  if (typeof content === "string") return content.trim() === "" ? [...problems, "an empty text"] : problems;
  for (const block of content) {
    if (!BLOCKS[role].includes(block.type)) problems.push(`a ${block.type} block in a message of ${role}`);
    if (block.type === "text" && block.text.trim() === "") problems.push("an empty text block");
  }
  return problems;
}

function outlineOf(message: Message): string {
  if (message.role === "toolResult") return `toolResult of ${message.toolCallId}`;
  if (message.role !== "assistant") return message.role;
  const calls = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
  return calls.length > 0 ? `assistant calling ${calls.join(", ")}` : "assistant";
}
