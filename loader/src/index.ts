export { type AgentDefinition, readAgentFile } from "./agent-file.ts";
export type { EnvironmentService, LoaderHost, PackageFacts, PackagesService, TrustService } from "./host.ts";
export { findPlace, toText } from "./import-error.ts";
export { readKept } from "./kept-contents.ts";
export { load } from "./load.ts";
export { nearestNames } from "./nearest-names.ts";
export type {
  AskTrust,
  Loaded,
  LoadFlags,
  LoadMode,
  LoadOptions,
  PackageControl,
  TrustAnswer,
  TrustControl,
  TrustScope,
} from "./options.ts";
export * from "./packages/index.ts";
export { resolveOwnModel } from "./picked.ts";
export { findPlaces } from "./places.ts";
export { contentOf, type Grade, type LoadPlan, type PlanChange, type PlanItem, type Verdict } from "./plan.ts";
export { findChange } from "./recall.ts";
export type { LoadReport } from "./report.ts";
export type { ResourceSource } from "./resources.ts";
export type { SettingsStore } from "./settings.ts";
export type { TrustDecision, TrustGrant } from "./trust.ts";
export { listDecisions, readTrust } from "./trust-store.ts";
export { forget as forgetTrust } from "./trust-writer.ts";
