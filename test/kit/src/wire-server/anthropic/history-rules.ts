import type { Rule } from "../format.ts";
import { first } from "../format.ts";
import { asText } from "../json-values.ts";
import type { AnthropicBlock, AnthropicBody } from "./body.ts";
import { listBlocks, mergeRoles, toBlocks } from "./body.ts";

/** The order of messages, calls and results, and the thinking that belongs to them. */
export const HISTORY_RULES: readonly Rule<AnthropicBody>[] = [
  {
    name: "role-unknown",
    refuse: ({ body }) =>
      first(body.messages, ({ role }, index) => {
        if (role === "user" || role === "assistant") return undefined;
        if (role !== "system") return { message: `messages.${index}.role: Input should be 'user' or 'assistant'` };
        return {
          message:
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
        };
      }),
  },
  {
    name: "first-not-user",
    refuse: ({ body }) =>
      body.messages[0]?.role === "user" ? undefined : { message: 'messages: first message must use the "user" role' },
  },
  {
    name: "last-not-user",
    refuse: ({ body }) =>
      body.messages.at(-1)?.role === "user"
        ? undefined
        : {
            message:
              "This model does not support assistant message prefill. The conversation must end with a user message.",
          },
  },
  {
    name: "block-in-wrong-role",
    refuse: ({ body }) =>
      first(body.messages, ({ role, content }, index) => {
        const foreign = toBlocks(content).find((block) => ROLE_OF_BLOCK[block.type] === opposite(role));
        if (!foreign) return undefined;
        return {
          message: `messages.${index}: \`${foreign.type}\` blocks can only be in \`${opposite(role)}\` messages`,
        };
      }),
  },
  {
    name: "tool-use-id-repeated",
    refuse({ body }) {
      const seen = new Set<unknown>();
      return first(listBlocks(body), ({ at, block }) => {
        if (block.type !== "tool_use") return undefined;
        if (seen.has(block.id)) return { message: `${at}: \`tool_use\` ids must be unique` };
        seen.add(block.id);
        return undefined;
      });
    },
  },
  {
    name: "tool-use-without-result",
    refuse({ body }) {
      const messages = mergeRoles(body.messages);
      return first(messages, ({ index, blocks }, place) => {
        const answered = listLeadingResults(messages[place + 1]?.blocks ?? []);
        const open = idsOf(blocks, "tool_use", "id").filter((id) => !answered.includes(id));
        if (open.length === 0) return undefined;
        return {
          message: `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
        };
      });
    },
  },
  {
    name: "tool-result-without-use",
    refuse({ body }) {
      const messages = mergeRoles(body.messages);
      return first(messages, ({ index, blocks }, place) => {
        const asked = idsOf(messages[place - 1]?.blocks ?? [], "tool_use", "id");
        const stray = idsOf(blocks, "tool_result", "tool_use_id").find((id) => !asked.includes(id));
        if (stray === undefined) return undefined;
        return {
          message: `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${asText(stray)}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        };
      });
    },
  },
  {
    name: "tool-result-repeated",
    refuse: ({ body }) =>
      first(mergeRoles(body.messages), ({ index, blocks }) => {
        const ids = idsOf(blocks, "tool_result", "tool_use_id");
        const twice = ids.find((id, place) => ids.indexOf(id) !== place);
        if (twice === undefined) return undefined;
        return {
          message: `messages.${index}.content.1: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${asText(twice)}`,
        };
      }),
  },
  {
    name: "thinking-signature",
    refuse: ({ body, server }) =>
      first(listBlocks(body), ({ at, block }) => {
        const { type, signature, thinking } = block;
        if (type !== "thinking") return undefined;
        if (typeof signature !== "string") return { message: `${at}.thinking.signature: Field required` };
        if (server.memory.signatures.get(signature) === thinking) return undefined;
        return { message: `${at}: Invalid \`signature\` in \`thinking\` block` };
      }),
  },
  {
    name: "thinking-dropped",
    refuse: ({ body, server }) =>
      first(body.messages, ({ role, content }, index) => {
        if (role !== "assistant" || !isThinkingOn(body)) return undefined;
        const blocks = toBlocks(content);
        const signatures = blocks.map((block) => block.signature);
        const bare = idsOf(blocks, "tool_use", "id").find((id) => {
          const wanted = server.memory.companions.get(asText(id));
          return wanted !== undefined && !signatures.includes(wanted);
        });
        if (bare === undefined) return undefined;
        return {
          message: `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${blocks[0]?.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
        };
      }),
  },
];

const ROLE_OF_BLOCK: Record<string, string> = {
  tool_use: "assistant",
  thinking: "assistant",
  redacted_thinking: "assistant",
  tool_result: "user",
  image: "user",
};

function opposite(role: unknown): string {
  return role === "user" ? "assistant" : "user";
}

function isThinkingOn(body: AnthropicBody): boolean {
  return body.thinking?.type === "enabled" || body.thinking?.type === "adaptive";
}

function idsOf(blocks: readonly AnthropicBlock[], type: string, key: "id" | "tool_use_id"): unknown[] {
  return blocks.filter((block) => block.type === type).map((block) => block[key]);
}

/** Results count only before anything else that a person says. */
function listLeadingResults(blocks: readonly AnthropicBlock[]): unknown[] {
  const end = blocks.findIndex((block) => block.type !== "tool_result");
  return idsOf(end < 0 ? blocks : blocks.slice(0, end), "tool_result", "tool_use_id");
}
