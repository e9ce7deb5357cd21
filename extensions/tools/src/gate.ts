import type { ExtensionAPI } from "@pi-agent/kernel";

/** Says why a call may not write to a real path; `undefined` when it may. */
export type RefusalOf = (toolCallId: string, realPath: string) => string | undefined;

/** What the service `gate` does, as far as it is used here. */
interface Gate {
  refusalOf?: RefusalOf;
}

/** Asks whoever guards files at the time of the call. Without such a service everything may be written. */
export function askGate(pi: ExtensionAPI): RefusalOf {
  return (toolCallId, realPath) => {
    const gate = pi.service("gate" as never) as Gate | undefined;
    return gate?.refusalOf?.(toolCallId, realPath);
  };
}
