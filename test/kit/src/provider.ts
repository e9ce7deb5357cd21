/** What the author of a provider tests with: claims to hold it to, requests, and a server that answers from a list. */
export { assertUsableModels } from "./provider/catalogue.ts";
export { type ProviderClaim, type ProviderUnderTest, providerClaims } from "./provider/claims.ts";
export { listLoadedModules } from "./provider/loaded-modules.ts";
export {
  assistantMessage,
  TEST_IMAGE,
  toolCall,
  toolResult,
  usageOf,
  userMessage,
} from "./provider/messages.ts";
export {
  providerRequest,
  type StreamedAnswer,
  streamReply,
  streamToEnd,
  TEST_KEY,
  TEST_MODEL,
} from "./provider/request.ts";
export {
  type Reply,
  type ReplyServer,
  replyCut,
  replyHang,
  replyJson,
  replyStream,
  type ServedRequest,
  serveReplies,
} from "./provider/serve.ts";
export { assertStreamOrder } from "./provider/stream-order.ts";
