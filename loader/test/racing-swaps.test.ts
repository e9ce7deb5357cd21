import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInThisContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import type { TempProject } from "../../test/kit/src/index.ts";
import { digestBytes, type LoadPlan } from "../src/plan.ts";
import { settleTrust, type TrustGrant } from "../src/trust.ts";
import type { TrustRecord } from "../src/trust-store.ts";
import { marks, planOf, project } from "./loading.ts";
import { extensionOf, importerIn, run } from "./serving.ts";

const [FLIPS, LOADS] = process.env.SOAK === "1" ? [10_000, 1_000] : [500, 30];

// Puts other content, links to it and links to nowhere in the place of each file, and the right content again.
const FLIPPER = `import { readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
const [evil, ...paths] = process.argv.slice(2);
const files = paths.map((path) => ({ path, good: readFileSync(path) }));
const bad = readFileSync(evil);
let flips = 0;
const ways = [
  (draft) => writeFileSync(draft, bad),
  (draft) => symlinkSync(evil, draft),
  (draft) => symlinkSync("nowhere", draft),
];
function flip() {
  for (const { path, good } of files) {
    const draft = path + ".draft";
    ways[flips++ % ways.length](draft);
    renameSync(draft, path);
    writeFileSync(draft, good);
    renameSync(draft, path);
  }
  setTimeout(flip, Math.random() * 4);
}
process.on("message", () => process.send(flips));
process.on("disconnect", () => process.exit());
flip();
`;

async function startFlipping(at: TempProject, names: readonly string[]): Promise<ChildProcess> {
  const script = join(at.home, "flipper.mjs");
  await at.write(script, FLIPPER);
  const child = fork(script, [join(at.home, "evil.js"), ...names.map((name) => join(at.path, name))]);
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    child.disconnect();
    await once(child, "exit");
  });
  return child;
}

async function countFlips(child: ChildProcess): Promise<number> {
  const answered = once(child, "message");
  child.send("how many");
  return Number((await answered)[0]);
}

function approve(plan: LoadPlan): TrustRecord {
  const { id, kind, digest, members } = extensionOf(plan);
  const known = { version: 1, project: plan.project, bound: "content", decision: "trusted", below: false } as const;
  return { ...known, resources: { [id]: { kind, digest, members } }, decidedAt: "", decidedBy: "prompt" };
}

/** Checks a file, then evaluates it, as a loader would that reads twice. */
function evaluateNaively(path: string, digest: string): void {
  try {
    if (digestBytes(readFileSync(path)) === digest)
      runInThisContext(`((require) => {${readFileSync(path, "utf8")}\n})`)(require);
  } catch {
    // A link to nowhere.
  }
}

test(
  `T3, attack 37: of ${FLIPS} swaps while it is looked at and loaded, none gets a byte evaluated that was not approved`,
  async () => {
    const swapped = [".pi/extensions/x/a.js", ".pi/extensions/x/b.ts", "node_modules/dep/index.js", "lib/late.cjs"];
    const at = await project({
      files: {
        ".pi/extensions/x/index.ts": `import { a } from "./a.js";
import { b } from "./b.ts";
import { dep } from "dep";
export default async () => [a, b, dep, require("../../../lib/late.cjs"), (await import("./b.ts")).b];`,
        [swapped[0]!]: "exports.a = 'a';",
        [swapped[1]!]: "export const b: string = 'b';",
        [swapped[2]!]: "exports.dep = 'dep';",
        [swapped[3]!]: "module.exports = 'late';",
      },
    });
    await at.write(
      join(at.home, "evil.js"),
      `require("node:fs").appendFileSync(${JSON.stringify(join(at.home, "marks"))}, "evil\\n");`,
    );
    const record = approve(await planOf(at));
    const naive = { path: join(at.path, swapped[0]!), digest: digestBytes(readFileSync(join(at.path, swapped[0]!))) };
    const flipper = await startFlipping(at, swapped);
    const entry = join(at.path, ".pi/extensions/x/index.ts");
    const loaded: unknown[] = [];
    for (let flips = 0; flips < FLIPS || loaded.length < LOADS; flips = await countFlips(flipper)) {
      const plan = await planOf(at);
      const grant: TrustGrant = await settleTrust(plan, { stored: () => ({ approvals: [record], notes: [] }) });
      if (grant.digests.size === 0) continue;
      const importer = importerIn(at);
      importer.serve(grant);
      loaded.push(await run(importer, entry));
      importer.dispose();
    }
    expect(marks(at)).toEqual([]);
    expect(loaded).toEqual(loaded.map(() => ["a", "b", "dep", "late", "b"]));
    while (marks(at).length === 0) evaluateNaively(naive.path, naive.digest);
    expect(marks(at)[0]).toBe("evil");
  },
  process.env.SOAK === "1" ? 600_000 : 60_000,
);
