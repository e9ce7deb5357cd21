import type { Refusal } from "./format.ts";
import type { FormatName } from "./neutral-request.ts";

type Failure = Refusal & { status: number };

const ANTHROPIC: Record<number, Omit<Refusal, "status">> = {
  401: { type: "authentication_error", message: "invalid x-api-key" },
  403: { type: "permission_error", message: "You do not have permission to access this resource." },
  413: { type: "request_too_large", message: "Request exceeds the maximum size" },
  429: {
    type: "rate_limit_error",
    message: "This request would exceed the rate limit for your organization of 30,000 input tokens per minute.",
  },
  500: { type: "api_error", message: "Internal server error" },
  529: { type: "overloaded_error", message: "Overloaded" },
};

const OPENAI: Record<number, Omit<Refusal, "status">> = {
  401: { code: "invalid_api_key", message: "Incorrect API key provided: test-key." },
  429: {
    type: "tokens",
    code: "rate_limit_exceeded",
    message:
      "Rate limit reached on tokens per min (TPM): Limit 30000, Used 29937, Requested 385. Please try again in 644ms.",
  },
  500: { type: "server_error", message: "The server had an error while processing your request. Sorry about that!" },
  503: {
    type: "server_error",
    message: "That model is currently overloaded with other requests. You can retry your request.",
  },
};

const GEMINI: Record<number, Omit<Refusal, "status">> = {
  401: { message: "API key not valid. Please pass a valid API key." },
  429: { message: "Resource has been exhausted (e.g. check quota)." },
  500: { message: "An internal error has occurred. Please retry." },
  503: { message: "The model is overloaded. Please try again later." },
};

/** Answers what a provider says at a status. */
export function describeFailure(format: FormatName, status: number): Failure {
  const table = format === "anthropic" ? ANTHROPIC : format === "gemini" ? GEMINI : OPENAI;
  return { status, ...(table[status] ?? { message: `Scripted failure with status ${status}.` }) };
}
