import { expect } from "vitest";
import { asText } from "../../src/wire-server/json-values.ts";
import { at, type Body, type WireName } from "./exchange.ts";

/** Puts a stream together again, as simply as possible. */
export const JOIN: Record<WireName, (events: Body[]) => unknown> = {
  anthropic(events) {
    const delta = (key: string) => events.map((event) => asText((event.delta as Body | undefined)?.[key])).join("");
    const starts = events.filter((event) => (event.content_block as Body | undefined)?.type === "tool_use");
    return {
      thinking: delta("thinking"),
      text: delta("text"),
      calls: starts.map(({ index, content_block: block }) => ({
        name: (block as Body).name,
        arguments: JSON.parse(
          events
            .filter((event) => event.index === index)
            .map((event) => asText((event.delta as Body | undefined)?.partial_json))
            .join("") || "{}",
        ),
      })),
    };
  },
  chat(events) {
    const deltas = events.flatMap((event) => (event.choices as Body[]).map((choice) => choice.delta as Body));
    const pieces = deltas.flatMap((delta) => (delta.tool_calls ?? []) as Body[]);
    return {
      thinking: deltas.map((delta) => asText(delta.reasoning_content ?? "")).join(""),
      text: deltas.map((delta) => asText(delta.content ?? "")).join(""),
      calls: [0, 1].map((index) => {
        const functions = pieces.filter((piece) => piece.index === index).map((piece) => piece.function as Body);
        return { name: functions[0]?.name, arguments: JSON.parse(functions.map((it) => it.arguments).join("")) };
      }),
    };
  },
  responses(events) {
    const joined = (type: string) =>
      events
        .filter((event) => event.type === type)
        .map((event) => event.delta)
        .join("");
    const done = events
      .filter((event) => event.type === "response.output_item.done")
      .map((event) => event.item as Body);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    expect(at(events.at(-1), "response", "output")).toEqual(done);
    return {
      thinking: joined("response.reasoning_summary_text.delta"),
      text: joined("response.output_text.delta"),
      calls: done
        .filter((item) => item.type === "function_call")
        .map((item) => ({ name: item.name, arguments: JSON.parse(String(item.arguments)) })),
    };
  },
  gemini(events) {
    const parts = events.flatMap((event) => at<Body[]>(event, "candidates", 0, "content", "parts"));
    const join = (thought: boolean) =>
      parts
        .filter((part) => (part.thought === true) === thought)
        .map((part) => asText(part.text))
        .join("");
    return {
      thinking: join(true),
      text: join(false),
      calls: parts
        .flatMap((part) => (part.functionCall ? [part.functionCall as Body] : []))
        .map(({ name, args }) => ({ name, arguments: args })),
    };
  },
};
