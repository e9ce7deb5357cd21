export { type Answer, type BlockKey, createAnswer } from "./answer.ts";
export {
  answerBlocks,
  isOwnAnswer,
  joinText,
  placedBlocks,
  toParts,
} from "./conversation.ts";
export { type ConverterSteps, createConverter } from "./converter.ts";
export { type ClassifiedFailure, classifyFailure, type FailureSource, failureError } from "./failure.ts";
export { settleHeaders } from "./headers.ts";
export { type Alphabet, createToolNames, PLAIN_64, toAlphabet } from "./names.ts";
export { isObjectSchema, resolveReference, toObjectSchema } from "./object-schema.ts";
export { sendOnce } from "./send.ts";
export { readServerSentEvents, type ServerSentEvent } from "./sse.ts";
export { responseError, type StreamSteps, streamAnswer } from "./stream.ts";
export { clampThinkingLevel, thinkingBudget } from "./thinking-level.ts";
export { priceUsage } from "./usage.ts";
