import type { Api } from "@pi-agent/kernel";
import { streamAnswer } from "@pi-agent/wire";
import { AnswerReader } from "./answer-reader.ts";
import { send } from "./send.ts";

export const API = "anthropic-messages";
export const ENV = ["ANTHROPIC_API_KEY"];

/** Speaks Anthropic's Messages API. */
export const anthropicMessages: Api = {
  stream(request) {
    const reader = new AnswerReader(request.tools);
    return streamAnswer(request, {
      api: API,
      env: ENV,
      open: (signal) => send(request, signal),
      read: (event, answer) => reader.read(event, answer),
      end: (answer) => reader.end(answer),
    });
  },
};
