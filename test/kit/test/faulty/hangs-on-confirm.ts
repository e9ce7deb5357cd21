import type { ExtensionAPI } from "@pi-agent/kernel";

/** Asks until somebody says yes. */
export default function hangsOnConfirm(pi: ExtensionAPI): void {
  pi.on("session_start", async (_event, { ui }) => {
    while (!(await ui.confirm("Go on?", "Nothing works without it.")));
  });
}
