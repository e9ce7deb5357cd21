import type { Rule } from "../format.ts";
import { first } from "../format.ts";
import { asText, findUnknownKey, isObject } from "../json-values.ts";
import type { AnthropicBlock, AnthropicBody } from "./body.ts";
import { listBlocks, toBlocks } from "./body.ts";

const BLOCK_KEYS: Record<string, string[]> = {
  text: ["type", "text", "cache_control", "citations"],
  thinking: ["type", "thinking", "signature"],
  redacted_thinking: ["type", "data"],
  tool_use: ["type", "id", "name", "input", "cache_control", "caller"],
  tool_result: ["type", "tool_use_id", "content", "is_error", "cache_control"],
  image: ["type", "source", "cache_control"],
};
const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const MAX_CACHE_MARKS = 4;

/** The blocks of messages, one by one. */
export const BLOCK_RULES: readonly Rule<AnthropicBody>[] = [
  {
    name: "block-type",
    refuse: ({ body }) =>
      first(listBlocks(body), ({ at, block }) =>
        block.type in BLOCK_KEYS
          ? undefined
          : { message: `${at}: Input tag '${block.type}' found using 'type' does not match any of the expected tags` },
      ),
  },
  {
    name: "block-unknown-key",
    refuse: ({ body }) =>
      first(listBlocks(body), ({ at, block }) => {
        const key = findUnknownKey(block, BLOCK_KEYS[block.type] ?? []);
        if (key === undefined) return undefined;
        return { message: `${at}.${block.type}.${key}: Extra inputs are not permitted` };
      }),
  },
  {
    name: "empty-message",
    refuse: ({ body }) =>
      first(body.messages, ({ content }, index) =>
        content.length > 0
          ? undefined
          : {
              message: `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
            },
      ),
  },
  {
    name: "empty-text",
    refuse: ({ body }) =>
      first(listBlocks(body), ({ block }) => {
        if (block.type !== "text") return undefined;
        if (typeof block.text !== "string" || block.text === "") {
          return { message: "messages: text content blocks must be non-empty" };
        }
        if (block.text.trim() !== "") return undefined;
        return { message: "messages: text content blocks must contain non-whitespace text" };
      }),
  },
  {
    name: "empty-system",
    refuse: ({ body: { system } }) =>
      system === undefined || system === "" || toBlocks(system).every(hasText)
        ? undefined
        : { message: "system: text content blocks must be non-empty" },
  },
  {
    name: "tool-use-id",
    refuse: ({ body }) =>
      first(listBlocks(body), ({ at, block }) => {
        const key = block.type === "tool_use" ? "id" : "tool_use_id";
        if (block.type !== "tool_use" && block.type !== "tool_result") return undefined;
        if (typeof block[key] === "string" && /^[a-zA-Z0-9_-]+$/.test(block[key])) return undefined;
        return { message: `${at}.${block.type}.${key}: String should match pattern '^[a-zA-Z0-9_-]+$'` };
      }),
  },
  {
    name: "tool-use-name",
    refuse: ({ body }) =>
      first(listBlocks(body), ({ at, block: { type, name } }) =>
        type !== "tool_use" || (typeof name === "string" && /^[a-zA-Z0-9_-]{1,200}$/.test(name))
          ? undefined
          : { message: `${at}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'` },
      ),
  },
  {
    name: "tool-use-input",
    refuse: ({ body }) =>
      first(listBlocks(body), ({ at, block }) =>
        block.type !== "tool_use" || isObject(block.input)
          ? undefined
          : { message: `${at}.tool_use.input: Input should be a valid dictionary` },
      ),
  },
  {
    name: "image-source",
    refuse: ({ body }) =>
      first(listBlocks(body), ({ at, block }) => {
        const fault = block.type === "image" && findImageFault(block.source);
        return fault ? { message: `${at}.image.source.base64.${fault}` } : undefined;
      }),
  },
  {
    name: "image-in-error-result",
    refuse: ({ body }) =>
      first(listBlocks(body), ({ at, block }) =>
        block.type === "tool_result" && block.is_error === true && hasOtherThanText(block.content)
          ? { message: `${at}.tool_result: all content must be type \`text\` if \`is_error\` is true` }
          : undefined,
      ),
  },
  {
    name: "cache-marks",
    refuse({ body }) {
      const system = typeof body.system === "string" ? [] : (body.system ?? []);
      const marked = [...system, ...(body.tools ?? []), ...listBlocks(body).map((placed) => placed.block)];
      const count = marked.filter((part) => part.cache_control !== undefined).length;
      if (count <= MAX_CACHE_MARKS) return undefined;
      return { message: `A maximum of 4 blocks with cache_control may be provided. Found ${count}.` };
    },
  },
];

function hasText(block: AnthropicBlock): boolean {
  return block.type === "text" && typeof block.text === "string" && block.text.trim() !== "";
}

function findImageFault(source: unknown): string | undefined {
  if (!isObject(source) || source.type === "url") return isObject(source) ? undefined : "data: Field required";
  if (!IMAGE_TYPES.includes(asText(source.media_type))) {
    return "media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'";
  }
  const isBase64 = typeof source.data === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(source.data);
  return isBase64 ? undefined : "data: invalid base64 data";
}

function hasOtherThanText(content: unknown): boolean {
  return Array.isArray(content) && content.some((part) => !isObject(part) || part.type !== "text");
}
