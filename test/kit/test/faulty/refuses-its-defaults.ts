import type { ExtensionAPI } from "@pi-agent/kernel";

/** Options that do not take what they say is their default. */
function refusesItsDefaults(_pi: ExtensionAPI): void {}

export default Object.assign(refusesItsDefaults, {
  options: { type: "object", properties: { size: { type: "integer", minimum: 10, default: 1 } } },
});
