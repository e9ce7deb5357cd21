import type { PlanItem } from "@pi-agent/loader";
import { expect, test } from "vitest";
import { showTrust } from "../../src/commands/trust.ts";

test("pi trust show says what to do about what is refused", async () => {
  const item: Partial<PlanItem> = {
    id: "extension:.pi/extensions/big/index.js",
    kind: "extension",
    grade: "executable",
    verdict: "refused",
    reason: "is larger than 20 MB",
    hint: "Name its file.",
  };
  const plan = { project: "/there", digest: "sha256-0", items: [item] };
  let written = "";
  const output = { write: (text: string) => void (written += text) };
  const report = { plan, decision: "untrusted", decidedBy: "nobody" };
  expect(await showTrust([], { report, output } as never)).toBe(0);
  expect(written).toContain("\n.pi/extensions/big/index.js: Name its file.\n");
});
