import type { Body, WireName } from "./exchange.ts";

/** The smallest good request of each format. */
export const BODIES: Record<WireName, Body> = {
  anthropic: {
    model: "scripted",
    max_tokens: 4096,
    stream: true,
    messages: [{ role: "user", content: "Hello." }],
  },
  chat: {
    model: "scripted",
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: "user", content: "Hello." }],
  },
  responses: { model: "scripted", stream: true, input: [{ role: "user", content: "Hello." }] },
  gemini: { contents: [{ role: "user", parts: [{ text: "Hello." }] }] },
};
