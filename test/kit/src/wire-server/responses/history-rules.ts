import type { Rule } from "../format.ts";
import { first } from "../format.ts";
import { asText } from "../json-values.ts";
import type { ResponsesBody, ResponsesItem } from "./body.ts";
import { typeOf } from "./body.ts";
import { isCall, refuseDuplicate } from "./item-rules.ts";

/** The order of calls and outputs, and the reasoning that belongs to items. */
export const HISTORY_RULES: readonly Rule<ResponsesBody>[] = [
  {
    name: "output-without-call",
    refuse: ({ body }) =>
      first(body.input, (item, index) => {
        if (!isOutput(item) || callIds(body.input.slice(0, index), isCall).includes(item.call_id)) return undefined;
        return {
          param: "input",
          message: `No tool call found for function call output with call_id ${asText(item.call_id)}.`,
        };
      }),
  },
  {
    name: "output-repeated",
    refuse: ({ body }) => refuseRepeated(body.input.filter(isOutput)),
  },
  {
    name: "call-repeated",
    refuse: ({ body }) => refuseRepeated(body.input.filter(isCall)),
  },
  {
    name: "call-without-output",
    refuse: ({ body }) =>
      first(body.input, (item, index) => {
        if (!isCall(item) || callIds(itemsUntilMessage(body.input, index), isOutput).includes(item.call_id)) {
          return undefined;
        }
        return { param: "input", message: `No tool output found for function call ${asText(item.call_id)}.` };
      }),
  },
  {
    name: "reasoning-not-stored",
    refuse: ({ body }) =>
      first(body.input, (item) => {
        if (typeOf(item) !== "reasoning" || body.store !== false || item.encrypted_content) return undefined;
        return {
          status: 404,
          param: "input",
          message: `Item with id '${asText(item.id)}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
        };
      }),
  },
  {
    name: "reasoning-changed",
    refuse: ({ body, server }) =>
      first(body.input, ({ id, encrypted_content: encrypted }) => {
        if (encrypted === undefined || encrypted === null) return undefined;
        if (server.memory.signatures.get(asText(encrypted)) === id) return undefined;
        return {
          code: "invalid_encrypted_content",
          message: `The encrypted content ${asText(encrypted).slice(0, 4)}... could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
        };
      }),
  },
  {
    name: "reasoning-without-item",
    refuse: ({ body }) =>
      first(body.input, (item, index) => {
        const next = body.input[index + 1];
        if (typeOf(item) !== "reasoning" || (next && isModelItem(next))) return undefined;
        return {
          param: "input",
          message: `Item '${asText(item.id)}' of type 'reasoning' was provided without its required following item.`,
        };
      }),
  },
  {
    name: "item-without-reasoning",
    refuse: ({ body, server }) =>
      first(body.input, (item) => {
        const wanted = server.memory.companions.get(asText(item.id));
        if (wanted === undefined || body.input.some(({ id }) => id === wanted)) return undefined;
        return {
          param: "input",
          message: `Item '${asText(item.id)}' of type '${typeOf(item)}' was provided without its required 'reasoning' item: '${wanted}'.`,
        };
      }),
  },
];

function isOutput(item: ResponsesItem): boolean {
  return typeOf(item) === "function_call_output";
}

/** What a model writes: the only things that may follow its reasoning. */
function isModelItem(item: ResponsesItem): boolean {
  return isCall(item) || typeOf(item) === "reasoning" || (typeOf(item) === "message" && item.role === "assistant");
}

function callIds(items: readonly ResponsesItem[], kind: (item: ResponsesItem) => boolean): unknown[] {
  return items.filter(kind).map((item) => item.call_id);
}

function refuseRepeated(items: readonly ResponsesItem[]) {
  const ids = items.map((item) => item.call_id);
  const twice = ids.find((id, place) => ids.indexOf(id) !== place);
  return twice === undefined ? undefined : refuseDuplicate("call_id", twice);
}

/**
 * The outputs of a call have to come before anybody speaks again. OpenAI itself only wants them somewhere after it;
 * DeepSeek's Responses API refuses more, and what passes here passes there.
 */
function itemsUntilMessage(input: readonly ResponsesItem[], index: number): readonly ResponsesItem[] {
  const after = input.slice(index + 1);
  const end = after.findIndex((item) => typeOf(item) === "message");
  return end < 0 ? after : after.slice(0, end);
}
