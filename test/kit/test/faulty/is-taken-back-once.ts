import type { ExtensionAPI } from "@pi-agent/kernel";

/** Fails when it is taken back a second time. */
export default function isTakenBackOnce(pi: ExtensionAPI): void {
  let connection: { close(): void } | undefined = { close() {} };
  pi.onDispose(() => {
    connection!.close();
    connection = undefined;
  });
}
