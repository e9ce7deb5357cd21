import type { ExtensionAPI } from "@pi-agent/kernel";

/** Registers one command more every time. */
const names: string[] = [];

export default function growsWithEveryLoad(pi: ExtensionAPI): void {
  names.push(`step-${names.length}`);
  for (const name of names) pi.registerCommand(name, { description: "One step", handler() {} });
}
