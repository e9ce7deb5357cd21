/**
 * Plans the project in the current folder so many times, turn about with reading and hashing the very files that the
 * plan names, and parsing those that are code: `node --conditions @pi-agent/source planning.ts 20`. Prints what it took, as JSON.
 */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";
import { findPlaces } from "../../../loader/src/places.ts";
import type { LoadPlan } from "../../../loader/src/plan.ts";
import { makePlan } from "../../../loader/src/scan.ts";
import { openSettings } from "../../../loader/src/settings.ts";

export interface PlanningFigures {
  planMs: number[];
  readMs: number[];
  items: { id: string; verdict: string; reason: string; members: number }[];
  opened: readonly string[];
}

const rounds = Number(process.argv[2]);
const places = findPlaces({ cwd: process.cwd(), env: process.env });
const settings = openSettings({ agentDir: places.agentDir });
const planMs: number[] = [];
const readMs: number[] = [];
let plan: LoadPlan | undefined;
let imports = 0;
// The first rounds compile what is measured afterwards.
for (let round = -5; round < rounds; round++) {
  const startedAt = performance.now();
  plan = await makePlan({ places, settings });
  const plannedAt = performance.now();
  readHashAndParse(plan);
  if (round < 0) continue;
  planMs.push(plannedAt - startedAt);
  readMs.push(performance.now() - plannedAt);
}
const items = plan!.items.map(({ id, verdict, reason, members }) => {
  return { id, verdict, reason, members: Object.keys(members).length };
});
if (imports === 0) throw new Error("No imports were found.");
const figures: PlanningFigures = { planMs, readMs, items, opened: plan!.opened };
console.log(JSON.stringify(figures));

/** The least that a plan has to do: look at each file, read it, hash it, and find what code imports, here natively. */
function readHashAndParse({ project, opened }: LoadPlan): void {
  for (const path of opened) {
    const file = openSync(join(project, path), "r");
    const bytes = Buffer.alloc(fstatSync(file).size);
    readSync(file, bytes, 0, bytes.length, 0);
    closeSync(file);
    createHash("sha256").update(bytes).digest("hex");
    if (path.endsWith(".ts")) imports += parseSync(path, bytes.toString("utf8")).module.staticImports.length;
  }
}
