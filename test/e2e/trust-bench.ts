/** A stranger's project whose extensions leave a mark when they run. */
import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { openWorkbench, type Workbench } from "./workbench.ts";

/** The source of an extension that leaves a mark. */
export const leave = (mark: string) =>
  `import { appendFileSync } from "node:fs";\nimport { homedir } from "node:os";\nappendFileSync(homedir() + "/ran", "${mark}\\n");\nexport default () => {};\n`;

/** Two extensions, a text, and a text that needs no answer. */
export const FILES = {
  ".pi/extensions/one.ts": leave("one"),
  ".pi/extensions/two.ts": leave("two"),
  ".pi/prompts/plan.md": "Plan it.\n",
  "AGENTS.md": "Use tabs.\n",
};

/** Opens a workbench with a project of these files. */
export const open = (files: Record<string, string> = FILES) =>
  openWorkbench(() => ({ text: "Done." }), { files, git: true });

/** Answers which marks were left since the last time that was asked. */
export async function ranIn({ home }: Workbench): Promise<string[]> {
  const path = join(home, "ran");
  if (!existsSync(path)) return [];
  const lines = (await readFile(path, "utf8")).trim().split("\n");
  await rm(path);
  return lines;
}

/** Reads what is remembered, a record a project. */
export async function readRecords({ agentDir }: Workbench): Promise<Record<string, unknown>[]> {
  const folder = join(agentDir, "trust.d");
  const names = existsSync(folder) ? (await readdir(folder)).filter((name) => name.endsWith(".json")) : [];
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), "utf8"))));
}

/** Runs `pi trust …`, which has to succeed. */
export async function trust(bench: Workbench, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await bench.pi(["trust", ...words]).done;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}
