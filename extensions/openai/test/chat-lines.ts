/** Lines of a chat stream, and answers made of them. */

import type { AssistantMessage, ToolCall } from "@pi-agent/kernel";
import { expect } from "vitest";
import { chatApi } from "../src/chat.ts";
import { ask, DONE, sse } from "./support.ts";

export const delta = (fields: object, more: object = {}) => ({ choices: [{ index: 0, delta: fields, ...more }] });
export const finish = (reason: string) => delta({}, { finish_reason: reason });
export const call = (fields: object) => delta({ tool_calls: [fields] });
export const fn = (name: string | undefined, args?: unknown) => ({ function: { name, arguments: args } });

export async function read(...lines: unknown[]): Promise<AssistantMessage> {
  return (await ask(chatApi, sse(...lines))).message;
}

/** The calls of an answer that ends as it should. */
export async function readCalls(...lines: unknown[]): Promise<ToolCall[]> {
  const message = await read(...lines, finish("tool_calls"), DONE);
  expect(message.stopReason).toBe("toolUse");
  return message.content.filter((block): block is ToolCall => block.type === "toolCall");
}
