/** Whether the host is one that a package was made for (P12). */
import { AgentError } from "@pi-agent/kernel";
import { toPrintable } from "../printable.ts";

/** What a package needs of the host. `fits`: versions that are known to do. */
export interface HostPeers {
  name: string;
  hostPeers: Readonly<Record<string, string>>;
  fits?: Readonly<Record<string, string>>;
}

/** Says which range of a host package does not hold; `undefined` when all do. */
export async function findHostMisfit(
  hostVersions: Readonly<Record<string, string>>,
  { name, hostPeers, fits = {} }: HostPeers,
): Promise<AgentError | undefined> {
  for (const [peer, range] of Object.entries(hostPeers)) {
    const version = hostVersions[peer];
    if (version === undefined || range === "*" || fits[peer] === version) continue;
    const { satisfies } = (await import("semver")).default;
    if (!satisfies(version, range, { includePrerelease: true })) return wordMisfit(name, { peer, range, version });
  }
  return undefined;
}

function wordMisfit(
  name: string,
  { peer, range, version }: { peer: string; range: string; version: string },
): AgentError {
  const message = `${toPrintable(name)} is made for ${peer} ${toPrintable(range)}, and this is ${version}.`;
  return new AgentError("package_host", message, {
    hint: "Install a version of it that is made for this one, or update pi.",
  });
}
