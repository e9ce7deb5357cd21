/** What only the tests of this repository need: its built command, and recordings that may lie on the machine. */
export { childProcessesOf, type ProcessInfo, processesWithVariable } from "./processes.ts";
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
export { lacksRightsOfOthers } from "./rights.ts";
export { PI_BIN, type PiResult, type PiRun, type RunPiOptions, runPi } from "./run-pi.ts";
