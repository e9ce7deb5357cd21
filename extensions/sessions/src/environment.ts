/** Where the host keeps the person's files, and the variables that it goes by. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { ExtensionAPI, ServiceName } from "@pi-agent/kernel";

export interface Environment {
  agentDir: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** Asks the host's service `environment`; a host without one goes by the process's variables. */
export function environmentOf(pi: Pick<ExtensionAPI, "service">): Environment {
  const given: unknown = pi.service("environment" as ServiceName);
  return (given as Environment | undefined) ?? processEnvironment();
}

/** The environment of this process: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`. */
export function processEnvironment(): Environment {
  const { env } = process;
  const chosen = env.PI_CODING_AGENT_DIR;
  return { env, agentDir: chosen ? resolve(expandHome(chosen)) : join(homedir(), ".pi", "agent") };
}

/** Replaces a leading `~` by the home directory. */
export function expandHome(path: string, env: Environment["env"] = process.env): string {
  return path === "~" || path.startsWith("~/") ? join(env.HOME || homedir(), path.slice(1)) : path;
}
