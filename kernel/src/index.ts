export type * from "./contract.ts";
export { SECTION_SLOTS } from "./contract.ts";
export { AgentError, isAgentError, maskSecrets, toAgentError } from "./errors.ts";
export type * from "./hook-points.ts";
export type * from "./messages.ts";
