export type { EnvironmentService, LoaderHost, TrustService } from "./host.ts";
export { load } from "./load.ts";
export { nearestNames } from "./nearest-names.ts";
export type { AskTrust, Loaded, LoadFlags, LoadMode, LoadOptions, TrustAnswer } from "./options.ts";
export type { Grade, LoadPlan, PlanItem, Verdict } from "./plan.ts";
export type { LoadReport } from "./report.ts";
export type { ResourceSource } from "./resources.ts";
export type { SettingsStore } from "./settings.ts";
export type { TrustDecision, TrustGrant } from "./trust.ts";
