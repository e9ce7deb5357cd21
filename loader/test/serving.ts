import type { ExtensionAPI } from "@pi-agent/kernel";
import { onTestFinished } from "vitest";
import type { TempProject } from "../../test/kit/src/index.ts";
import { createImporter, type Importer } from "../src/import.ts";
import { type LoadPlan, type PlanItem } from "../src/plan.ts";
import { settleTrust, type TrustGrant } from "../src/trust.ts";
import { planOf } from "./loading.ts";

/** Scans a project, and lets all of it load. */
export async function grantFor(at: TempProject, more: { isFolderBound?: boolean } = {}): Promise<TrustGrant> {
  return settleTrust(await planOf(at), more.isFolderBound ? { answer: "folder" } : { approve: true });
}

/** An importer that is let go of with the test. */
export function importerIn(at: TempProject): Importer {
  const made = createImporter({ agentDir: at.agentDir, modules: () => new Map() });
  onTestFinished(() => made.dispose());
  return made;
}

/** Imports a file, and answers what its factory returns. */
export async function run(importer: Importer, path: string): Promise<unknown> {
  const extension = (await importer.load(path)) as unknown as (pi: Partial<ExtensionAPI>) => unknown;
  return extension({});
}

/** The one extension that a project brings. */
export function extensionOf(plan: LoadPlan): PlanItem {
  const found = plan.items.filter(({ kind }) => kind === "extension");
  if (found.length !== 1 || !found[0]) throw new Error(`the plan has ${found.length} extensions`);
  return found[0];
}
