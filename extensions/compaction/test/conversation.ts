import type { AssistantMessage, Message } from "@pi-agent/kernel";
import { assistantMessage, TEST_IMAGE, toolCall, toolResult, userMessage } from "@pi-agent/testing/provider";
import { words } from "./start.ts";
import type { StrictModel } from "./strict-model.ts";

/** Makes the messages of conversations with a model. */
export function speaker({ model }: Pick<StrictModel, "model">) {
  const say = (text: string, more: Partial<AssistantMessage> = {}) =>
    assistantMessage(model, [{ type: "text", text }], more);
  const call = (...ids: string[]) =>
    assistantMessage(
      model,
      ids.map((id) => toolCall(id, { arguments: { path: `${id}.txt` } })),
    );
  const result = (id: string, tokens: number) => toolResult(id, words(tokens, id));
  return { say, call, result, user: (text: string) => userMessage(text), image: TEST_IMAGE };
}

/** A task, then batches of three calls side by side with results of different sizes, between them words of both. */
export function batches(strict: StrictModel, count: number): Message[] {
  const { say, call, result, user } = speaker(strict);
  return Array.from({ length: count }, (_, at): Message[] => {
    const ids = ["a", "b", "c"].map((letter) => `${letter}${at}`);
    return [
      user(`Prompt ${at}. ${words(20 + at)}`),
      call(...ids),
      ...ids.map((id, n) => result(id, 30 + 37 * ((at + n) % 4))),
      call(`d${at}`),
      result(`d${at}`, 60),
      say(`Answer ${at}. ${words(15)}`),
    ];
  }).flat();
}
