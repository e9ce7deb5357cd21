/**
 * What a project costs at a start before anything of it loads: a repository of 20,000 files in which 50 resources wait
 * for trust. Planning it may take 150 ms, and opens no file that is no part of a resource.
 */
import { join } from "node:path";
import { tempProject } from "@pi-agent/testing";
import { PI_BIN } from "@pi-agent/testing/house";
import type { PlanningFigures } from "./drivers/planning.ts";
import { interleave, runNode } from "./processes.ts";
import type { Ratio } from "./run.ts";

const FILES = 20_000;
const LIMIT_MS = 150;
const ROUNDS = 20;

export async function run(): Promise<Ratio[]> {
  const resources = makeResources();
  await using project = await tempProject({ files: { ...makeSources(), ...resources.files }, git: true });
  await using empty = await tempProject();
  const env = { PATH: process.env.PATH, HOME: project.home, PI_OFFLINE: "1" };
  const driver = join(import.meta.dirname, "drivers", "planning.ts");
  const args = ["--conditions", "@pi-agent/source", driver, String(ROUNDS)];
  const { stdout } = await runNode({ args, cwd: project.path, env });
  const figures = JSON.parse(stdout) as PlanningFigures;
  assertPlan(figures, resources);
  // Other work on the machine only adds.
  const [plan, read] = [Math.min(...figures.planMs), Math.min(...figures.readMs)];
  // Told without a limit, for it is the machine's as much as ours: a start plans once, with code that nothing warmed up.
  const show = (cwd: string) => () => runNode({ args: [PI_BIN, "trust", "show"], cwd, env });
  const starts = await interleave({ here: show(project.path), there: show(empty.path) }, { runs: 10, warmUps: 2 });
  const least = (side: { ms: number }[]) => Math.min(...side.map(({ ms }) => ms));
  const startMs = least(starts.here) - least(starts.there);
  console.log(
    `planning ${figures.items.length} resources among ${FILES} files: ${plan.toFixed(1)} ms, a start ${startMs.toFixed(0)} ms longer; ` +
      `opened ${figures.opened.length} files, all of them parts of resources; reading, hashing and parsing those: ${read.toFixed(1)} ms`,
  );
  return [
    { what: `plan-ms/${LIMIT_MS}`, ratio: plan / LIMIT_MS, limit: 1 },
    { what: "plan/read-hash-and-parse-the-same-files", ratio: plan / read, limit: 4 },
  ];
}

/** Fails when the plan is not the one that was to be measured. */
function assertPlan({ items, opened }: PlanningFigures, { files, count }: Resources): void {
  const wrong = items.filter(({ verdict }) => verdict !== "held");
  if (wrong.length > 0) throw new Error(`Not held: ${JSON.stringify(wrong.slice(0, 3))}`);
  if (items.length !== count) throw new Error(`${items.length} resources were found, not ${count}.`);
  const expected = Object.keys(files).toSorted();
  const missed = expected.filter((file) => !opened.includes(file));
  const strange = opened.filter((file) => !Object.hasOwn(files, file));
  if (strange.length > 0) throw new Error(`Opened, though no part of a resource: ${strange.slice(0, 5).join(", ")}`);
  if (missed.length > 0) throw new Error(`Parts of a resource that were not read: ${missed.slice(0, 5).join(", ")}`);
}

interface Resources {
  /** Every file that belongs to one, with its text. */
  files: Record<string, string>;
  count: number;
}

/** 20 extensions with imports, 15 skills with scripts, 10 prompts, 3 agents, settings and a system prompt: 50. */
function makeResources(): Resources {
  const files: Record<string, string> = {
    ".pi/settings.json": JSON.stringify({ compaction: { enabled: true } }),
    ".pi/SYSTEM.md": prose(40),
    "src/shared/shared.ts": code(200),
  };
  for (let n = 0; n < 20; n++) {
    const helpers = [`helper-${n}`, `part-${n}`];
    const at = n % 2 === 0 ? `.pi/extensions/one-${n}.ts` : `.pi/extensions/more-${n}/index.ts`;
    const up = n % 2 === 0 ? "../../src/tools" : "../../../src/tools";
    files[at] = `import { helper } from "${up}/helper-${n}.ts";\n${code(150)}\nexport default () => void helper;\n`;
    files[`src/tools/helper-${n}.ts`] =
      `import { part } from "./part-${n}.ts";\nimport { shared } from "../shared/shared.ts";\n${code(100)}\nexport const helper = [part, shared];\n`;
    files[`src/tools/part-${n}.ts`] = `${code(100)}\nexport const part = ${JSON.stringify(helpers)};\n`;
  }
  files["src/shared/shared.ts"] += "\nexport const shared = 1;\n";
  for (let n = 0; n < 15; n++) {
    files[`.pi/skills/skill-${n}/SKILL.md`] = `---\nname: skill-${n}\ndescription: Does ${n}\n---\n${prose(60)}`;
    files[`.pi/skills/skill-${n}/scripts/run.sh`] = `#!/bin/sh\necho ${n}\n`;
    files[`.pi/skills/skill-${n}/reference.md`] = prose(200);
  }
  for (let n = 0; n < 10; n++) files[`.pi/prompts/prompt-${n}.md`] = prose(30);
  for (let n = 0; n < 3; n++) files[`.pi/agents/agent-${n}.md`] = `---\nname: agent-${n}\n---\n${prose(30)}`;
  return { files, count: 50 };
}

function makeSources(): Record<string, string> {
  const files: Record<string, string> = {};
  for (let n = 0; n < FILES; n++) files[`packages/package-${n % 200}/src/module-${n}.ts`] = code(5 + (n % 40));
  return files;
}

function code(lines: number): string {
  return Array.from({ length: lines }, (_, n) => `const value${n}: number = ${n} * Math.sqrt(${n});`).join("\n");
}

function prose(lines: number): string {
  return "A line of words that a model may read, one after the other.\n".repeat(lines);
}
