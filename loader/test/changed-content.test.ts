import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TempProject } from "../../test/kit/src/index.ts";
import type { LoadPlan } from "../src/plan.ts";
import { settleTrust } from "../src/trust.ts";
import type { TrustRecord } from "../src/trust-store.ts";
import { planOf, project } from "./loading.ts";

const FILES = {
  ".pi/extensions/x/index.ts": "import './lib.ts';\nimport data from './data.json';",
  ".pi/extensions/x/lib.ts": "export {};",
  ".pi/extensions/x/data.json": "{}",
  ".pi/extensions/x/package.json": "{}",
  ".pi/extensions/y.ts": "import '../../lib/shared.ts';",
  ".pi/extensions/z.ts": "",
  "lib/shared.ts": "",
  ".pi/skills/s/SKILL.md": "s",
  ".pi/skills/s/run.sh": "",
  ".pi/skills/s/nested/SKILL.md": "nested",
  ".pi/agents/a.md": "a",
  "AGENTS.md": "words",
};

function recordOf(plan: LoadPlan): TrustRecord {
  const known = { version: 1, project: plan.project, bound: "content", decision: "trusted", below: false } as const;
  const resources = Object.fromEntries(
    plan.items.map(({ id, kind, digest, members }) => [id, { kind, digest, members }]),
  );
  return { ...known, resources, decidedAt: "", decidedBy: "prompt" };
}

/** What a start asks about, after what was approved before, and what it loads without a question. */
async function startAgain(
  at: TempProject,
  approvals: TrustRecord[],
): Promise<{ asked: string[]; loaded: string[]; changed: readonly string[] }> {
  const asked: string[] = [];
  const changed: string[] = [];
  const ask = (plan: LoadPlan) => {
    for (const { id, verdict, change } of plan.items) {
      if (verdict !== "held") continue;
      asked.push(id);
      changed.push(...(change ? [...change.added, ...change.removed, ...change.changed] : []));
    }
    return "not-now";
  };
  const grant = await settleTrust(await planOf(at), { stored: () => ({ approvals, notes: [] }), ask });
  return { asked, loaded: [...grant.digests.keys()], changed };
}

test.each([
  [".pi/extensions/x/index.ts", "extension:.pi/extensions/x/index.ts"],
  [".pi/extensions/x/lib.ts", "extension:.pi/extensions/x/index.ts"],
  [".pi/extensions/x/data.json", "extension:.pi/extensions/x/index.ts"],
  [".pi/extensions/x/package.json", "extension:.pi/extensions/x/index.ts"],
  ["lib/shared.ts", "extension:.pi/extensions/y.ts"],
  [".pi/skills/s/run.sh", "skill:.pi/skills/s/SKILL.md"],
  [".pi/skills/s/nested/SKILL.md", "skill:.pi/skills/s/SKILL.md"],
  [".pi/agents/a.md", "agent:.pi/agents/a.md"],
])(
  "F035, T2, attack 34: one byte of %s asks about the one resource that it belongs to, and names the file",
  async (name, id) => {
    const at = await project({ files: FILES });
    const record = recordOf(await planOf(at));
    expect((await startAgain(at, [record])).asked).toEqual([]);
    await at.write(name, `${FILES[name as keyof typeof FILES]} `);
    const { asked, changed, loaded } = await startAgain(at, [record]);
    expect(asked).toEqual([id]);
    expect(changed).toEqual([name]);
    expect(loaded).toHaveLength(5);
  },
);

test("F035, attack 36: what is new is asked about, and nothing else; words for the model load", async () => {
  const at = await project({ files: FILES });
  const record = recordOf(await planOf(at));
  await at.write(".pi/extensions/new.ts", "");
  await at.write("AGENTS.md", "other words");
  await at.write("lib/unused.ts", "");
  const { asked, loaded } = await startAgain(at, [record]);
  expect(asked).toEqual(["extension:.pi/extensions/new.ts"]);
  expect(loaded).toContain("context-file:AGENTS.md");
});

test("attack 40: older content loads as long as it is on record, and no longer", async () => {
  const at = await project({ files: FILES });
  const before = recordOf(await planOf(at));
  await at.write("lib/shared.ts", "newer");
  const after = recordOf(await planOf(at));
  await at.write("lib/shared.ts", "");
  expect((await startAgain(at, [after, before])).asked).toEqual([]);
  expect((await startAgain(at, [after])).asked).toEqual(["extension:.pi/extensions/y.ts"]);
});

test("attack 30: another folder in the place of the one that was trusted is asked about", async () => {
  const at = await project({ files: FILES });
  const record = recordOf(await planOf(at));
  await rm(join(at.path, ".pi"), { recursive: true });
  await at.write(".pi/extensions/y.ts", "another");
  expect((await startAgain(at, [record])).asked).toEqual(["extension:.pi/extensions/y.ts"]);
});
