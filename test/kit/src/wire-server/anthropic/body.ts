/** A Messages request. The rules on shape run first and make these types true where they are not `unknown`. */
export interface AnthropicBody {
  model: string;
  max_tokens?: unknown;
  stream?: unknown;
  system?: string | AnthropicBlock[];
  messages: AnthropicMessage[];
  tools?: AnthropicTool[];
  tool_choice?: unknown;
  thinking?: { type?: unknown; budget_tokens?: unknown };
  temperature?: unknown;
}

export interface AnthropicMessage {
  role: unknown;
  content: string | AnthropicBlock[];
}

export interface AnthropicBlock {
  type: string;
  text?: unknown;
  thinking?: unknown;
  signature?: unknown;
  data?: unknown;
  id?: unknown;
  name?: unknown;
  input?: unknown;
  tool_use_id?: unknown;
  content?: unknown;
  is_error?: unknown;
  source?: unknown;
  cache_control?: unknown;
}

export interface AnthropicTool {
  name?: unknown;
  description?: unknown;
  input_schema?: unknown;
  cache_control?: unknown;
}

/** A block with its place as error messages write it: `messages.1.content.0`. */
export interface PlacedBlock {
  at: string;
  block: AnthropicBlock;
}

/** Answers a content value's blocks; a text is one block. */
export function toBlocks(content: string | AnthropicBlock[]): AnthropicBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** Lists the blocks of all messages, and those inside tool results. */
export function listBlocks(body: AnthropicBody): PlacedBlock[] {
  return body.messages.flatMap((message, index) =>
    toBlocks(message.content).flatMap((block, place) => {
      const at = `messages.${index}.content.${place}`;
      return [{ at, block }, ...listInnerBlocks(at, block)];
    }),
  );
}

function listInnerBlocks(at: string, block: AnthropicBlock): PlacedBlock[] {
  if (block.type !== "tool_result" || !Array.isArray(block.content)) return [];
  return block.content.map((inner: AnthropicBlock, place) => ({
    at: `${at}.tool_result.content.${place}`,
    block: inner,
  }));
}

/** Merges neighbours of one role, as the API does before it looks at the order. */
export function mergeRoles(
  messages: readonly AnthropicMessage[],
): { role: unknown; index: number; blocks: AnthropicBlock[] }[] {
  const merged: { role: unknown; index: number; blocks: AnthropicBlock[] }[] = [];
  for (const [index, message] of messages.entries()) {
    const last = merged.at(-1);
    if (last && last.role === message.role) last.blocks.push(...toBlocks(message.content));
    else merged.push({ role: message.role, index, blocks: [...toBlocks(message.content)] });
  }
  return merged;
}
