export { assertEventOrder, type OrderedEvent } from "./event-order.ts";
export { childProcessesOf, type ProcessInfo, processesWithVariable } from "./processes.ts";
export { type RecordedEvents, recordEvents } from "./recorded-events.ts";
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
