export { createAgent } from "./agent.ts";
export type * from "./contract.ts";
export { SECTION_SLOTS } from "./contract.ts";
export { AgentError, isAgentError, maskSecrets, toAgentError } from "./errors.ts";
export { currentOwner, runAs } from "./frames.ts";
export type * from "./hook-points.ts";
export { headlessUi } from "./host.ts";
export type * from "./messages.ts";
export { uuidv7 } from "./values.ts";
