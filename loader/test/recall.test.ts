import { expect, test } from "vitest";
import type { PlanItem } from "../src/plan.ts";
import { findChange, recall } from "../src/recall.ts";
import type { TrustRecord } from "../src/trust-store.ts";
import { record as recordAt } from "./deciding.ts";
import { planOf, project } from "./loading.ts";

const record = (more: Partial<TrustRecord> = {}) => recordAt("/p", more);

test("T2: a content-bound record knows exactly the content that it was made about", async () => {
  const at = await project({ files: { ".pi/extensions/a.ts": "1", ".pi/prompts/p.md": "2" } });
  const [extension, prompt] = (await planOf(at)).items;
  if (!extension || !prompt) throw new Error("The plan is empty.");
  const known = ({ id, kind, digest }: typeof extension) => [id, { kind, digest, members: {} }];
  const bound = { bound: "content", resources: Object.fromEntries([known(extension), known(prompt)]) } as const;
  const changed = { ...extension, digest: `sha256-${"0".repeat(64)}` };
  const full = record(bound);
  expect([extension, prompt, changed].map((item) => recall([full], item))).toEqual(["loaded", "loaded", undefined]);
  const texts = record({ ...bound, decision: "text" });
  expect([extension, prompt, changed].map((item) => recall([texts], item))).toEqual(["held", "loaded", undefined]);
  expect(recall([full], { ...extension, kind: "prompt" })).toBeUndefined();
  expect(recall([record({ bound: "content" })], { ...extension, id: "__proto__", digest: "" })).toBeUndefined();
});

test("T1: what was asked about and not allowed stays held, whatever the record, or one above, says of the rest", async () => {
  const at = await project({ files: { ".pi/extensions/a.ts": "1" } });
  const [item] = (await planOf(at)).items as [PlanItem];
  const { id, kind, digest } = item;
  const resources = { [id]: { kind, digest, members: {}, held: true } };
  expect(recall([record({ resources })], item)).toBe("held");
  expect(recall([record({ bound: "content", resources })], item)).toBe("held");
  expect(recall([record({ resources }), record()], item)).toBe("held");
  expect(recall([record({ bound: "content" }), record()], item)).toBe("loaded");
});

test("T2: a change names the files that came, went and became others, against the latest record", async () => {
  const at = await project({ files: { ".pi/skills/s/SKILL.md": "1", ".pi/skills/s/old.md": "o" } });
  const [before] = (await planOf(at)).items as [PlanItem];
  await at.write(".pi/skills/s/SKILL.md", "2");
  await at.write(".pi/skills/s/new.md", "n");
  const { rm } = await import("node:fs/promises");
  await rm(`${at.path}/.pi/skills/s/old.md`);
  const [now] = (await planOf(at)).items as [PlanItem];
  const { id, kind, digest, members } = before;
  const known = record({ bound: "content", resources: { [id]: { kind, digest, members } } });
  const none = { added: [], removed: [], changed: [] };
  expect(findChange([], now)).toBeUndefined();
  expect(findChange([record()], now)).toEqual({ isNew: true, ...none });
  expect(findChange([record({ decidedAt: "2020-01-01T00:00:00.000Z" }), known], now)).toEqual({
    isNew: false,
    added: [".pi/skills/s/new.md"],
    removed: [".pi/skills/s/old.md"],
    changed: [".pi/skills/s/SKILL.md"],
  });
});
