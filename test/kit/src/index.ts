export { type ClaimName, type ConformanceClaim, conformanceClaims } from "./conformance/claims.ts";
export type { ConformanceOptions } from "./conformance/options.ts";
export { type ConformanceReport, type RegisterTest, testExtension } from "./conformance/test-extension.ts";
export { assertEventOrder, type OrderedEvent } from "./event-order.ts";
export { type FakeClock, fakeClock } from "./fake-clock.ts";
export { type RecordedEvents, recordEvents } from "./recorded-events.ts";
export { SCRIPTED_MODEL, type ScriptedProvider, scriptedProvider } from "./scripted-provider.ts";
export { assertValidForStrictProvider, listStrictProblems } from "./strict-transcript.ts";
export { type TempProject, type TempProjectOptions, tempProject } from "./temp-project.ts";
export {
  lastResults,
  lastUserText,
  type NeutralCall,
  type NeutralMessage,
  type NeutralRequest,
  type NeutralTool,
} from "./wire-server/neutral-request.ts";
export type {
  Script,
  ScriptedCall,
  ScriptedFailure,
  ScriptedStop,
  ScriptedUsage,
  Turn,
} from "./wire-server/turn.ts";
