import type { ExtensionAPI, Json } from "@pi-agent/kernel";
import type { BashOptions, BashSettings } from "./bash.ts";

/** What the service `sessions` tells, as far as it is used here. */
interface Sessions {
  current?: { file?: string };
}

/** What the service `environment` does, as far as it is used here. */
interface Environment {
  findProgram?(name: string): string | undefined;
}

/** What `bash` asks its session at each call. */
export function sessionOptions(
  pi: ExtensionAPI,
): Pick<BashOptions, "settings" | "secretNames" | "sessionFile" | "reasoningLevel" | "findProgram"> {
  return {
    // Whatever package provides it; without one there is no file.
    sessionFile: () => (pi.service("sessions" as never) as Sessions | undefined)?.current?.file,
    settings: () => readSettings(pi),
    secretNames: () => pi.service("credentials")?.names() ?? [],
    reasoningLevel: () => pi.getThinkingLevel(),
    findProgram: (name) => (pi.service("environment" as never) as Environment | undefined)?.findProgram?.(name),
  };
}

function readSettings(pi: ExtensionAPI): BashSettings {
  const settings = pi.service("settings");
  const timeout = settings?.get("bash.timeoutSeconds");
  return {
    shellPath: asText(settings?.get("shellPath")),
    commandPrefix: asText(settings?.get("shellCommandPrefix")),
    timeoutSeconds: typeof timeout === "number" && timeout >= 0 ? timeout : undefined,
  };
}

function asText(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
