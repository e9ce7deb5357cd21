import type { Api } from "@pi-agent/kernel";
import { streamAnswer } from "@pi-agent/wire";
import { AnswerReader } from "./answer-reader.ts";
import { send } from "./send.ts";

export const API = "google-generative-ai";
export const ENV = ["GEMINI_API_KEY", "GOOGLE_API_KEY"];

/** Speaks Google's Gemini API. */
export const googleGenerativeAi: Api = {
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
