export { assertEventOrder, type OrderedEvent } from "./event-order.ts";
export { childProcessesOf, type ProcessInfo, processesWithVariable } from "./processes.ts";
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
  type ComparableBlock,
  comparableBlocks,
  cutLongTexts,
  hasRecordings,
  NO_RECORDINGS,
  RECORDINGS,
  type Recording,
  readRecordings,
  replayRecording,
} from "./provider/recordings.ts";
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
export { type RecordedEvents, recordEvents } from "./recorded-events.ts";
export { lacksRightsOfOthers } from "./rights.ts";
export { PI_BIN, type PiResult, type PiRun, type RunPiOptions, runPi } from "./run-pi.ts";
export { SCRIPTED_MODEL, type ScriptedProvider, scriptedProvider } from "./scripted-provider.ts";
export { type TempProject, type TempProjectOptions, tempProject } from "./temp-project.ts";
export type { Chunking } from "./wire-server/delivery.ts";
export { type ModelsJson, modelsJson, WIRE_PROVIDERS } from "./wire-server/models-json.ts";
export {
  type FormatName,
  lastResults,
  lastUserText,
  type NeutralCall,
  type NeutralMessage,
  type NeutralRequest,
  type NeutralTool,
} from "./wire-server/neutral-request.ts";
export type { Ending, RecordedRequest } from "./wire-server/recorded-request.ts";
export { startWireServer, type WireServer, type WireServerOptions } from "./wire-server/start-wire-server.ts";
export type {
  Script,
  ScriptedCall,
  ScriptedFailure,
  ScriptedStop,
  ScriptedUsage,
  Turn,
} from "./wire-server/turn.ts";
