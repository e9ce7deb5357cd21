export {
  type Adapter,
  type Outcome,
  type SettingValues,
  type Start,
  WAYS,
  type Way,
  type WayId,
} from "./adapter.ts";
export {
  type Acts,
  type Attack,
  type Control,
  type Expectation,
  MISTAKES,
  type Mistake,
  type Seen,
  type StartChange,
  type TrustKind,
} from "./attack.ts";
export { ATTACKS } from "./attacks.ts";
export type { Canary } from "./canary.ts";
export type { Failure, Judged, Verdict } from "./judge.ts";
export {
  MODEL,
  openGate,
  writeDriver,
  writeModels,
  writeSession,
  writeTyped,
} from "./pi/agent-home.ts";
export { createPiAgentAdapter, type PiAgentOptions } from "./pi/pi-agent-adapter.ts";
export { type CommandOptions, type CommandResult, runCommand } from "./pi/run-command.ts";
export { existsFor, type RunOptions, runAttacks, runControls } from "./run.ts";
export { Site } from "./site.ts";
export type { Cell } from "./start.ts";
export { countLine, drawTable, isFailure, listFailures } from "./table.ts";
