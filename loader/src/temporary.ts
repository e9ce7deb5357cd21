/** Packages that were typed with `-e`: installed apart, for the runs that name them, and declared nowhere. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { isAgentError } from "@pi-agent/kernel";
import type { InstalledPackage, PackageContext } from "./packages/index.ts";

const SOURCE = /^(?:npm:|git:|git\+|github:|https?:|ssh:|[\w.-]+@[\w.-]+:)/i;

/** Tells whether what was typed is a package source, and no path. */
export function isTypedSource(text: string): boolean {
  return SOURCE.test(text);
}

/**
 * Brings a typed package. What was brought before is used where nothing can be reached. Fails as `installPackage` does, and
 * with the reason why it may not be loaded.
 */
export async function bringTyped(context: PackageContext, text: string, cwd: string): Promise<InstalledPackage> {
  const { installPackage, listPackages, parseSource } = await import("./packages/index.ts");
  const key = createHash("sha256").update(text).digest("hex").slice(0, 32);
  const source = parseSource(text, { folder: cwd, home: context.home });
  const apart = { ...context, agentDir: join(context.agentDir, "cache", "typed", key), projectDir: undefined };
  // An exact one is the same at any time (P11); what may have moved is asked for.
  const isExact = source.kind === "npm" ? source.how === "exact" : source.kind === "git" && isFullCommit(source.ref);
  const [known] = isExact ? await listPackages(apart) : [];
  if (known?.state === "ok") return known;
  const fault = await installPackage(apart, text, { cwd }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (fault !== undefined && !(isAgentError(fault) && fault.code === "package_unreachable")) throw fault;
  const [brought] = await listPackages(apart);
  if (!brought) throw fault;
  if (brought.problem) throw brought.problem;
  return brought;
}

function isFullCommit(ref: string | undefined): boolean {
  return ref !== undefined && /^[0-9a-f]{40}$/.test(ref);
}
