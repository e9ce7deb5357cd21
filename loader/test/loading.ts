import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { headlessUi } from "@pi-agent/kernel";
import { onTestFinished } from "vitest";
import { type TempProject, type TempProjectOptions, tempProject } from "../../test/kit/src/index.ts";
import { load } from "../src/load.ts";
import type { Loaded, LoadMode, LoadOptions } from "../src/options.ts";
import { findPlaces, type Places } from "../src/places.ts";
import type { LoadPlan } from "../src/plan.ts";
import { makePlan, type ScanInput } from "../src/scan.ts";
import { openSettings } from "../src/settings.ts";

/** A project that is cleaned up with the test. */
export async function project(options: TempProjectOptions = {}): Promise<TempProject> {
  const made = await tempProject(options);
  onTestFinished(() => made.cleanup());
  return made;
}

/** Loads as a front end without a person would, with this project's home; unloaded with the test. */
export async function loadIn(at: TempProject, options: Partial<LoadOptions> = {}): Promise<Loaded> {
  const loaded = await load({ cwd: at.path, env: envOf(at), mode: PRINT, ...options });
  onTestFinished(async () => void (await loaded.dispose()));
  return loaded;
}

export const PRINT: LoadMode = { name: "print", hasUI: false, ui: { ...headlessUi, notify: () => {} } };

/** A front end with a person who gives this answer. */
export function askedWith(answer: unknown): LoadMode {
  return { name: "tui", hasUI: true, ui: PRINT.ui, askTrust: () => answer };
}

export function envOf(at: TempProject): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: at.home };
}

export function placesOf(at: TempProject, cwd = at.path): Places {
  return findPlaces({ cwd, env: envOf(at) });
}

/** Scans a project as a load would. */
export function planOf(at: TempProject, more: Partial<ScanInput> & { cwd?: string } = {}): Promise<LoadPlan> {
  const places = placesOf(at, more.cwd);
  return makePlan({ places, settings: openSettings({ agentDir: places.agentDir }), ...more });
}

/** Makes a named pipe, which a careless reader would wait for. */
export function makePipe(path: string): void {
  execFileSync("/usr/bin/mkfifo", [path]);
}

/** The verdicts of a plan by id, with the reason where something was refused. */
export function verdicts(plan: LoadPlan): Record<string, string> {
  return Object.fromEntries(
    plan.items.map(({ id, verdict, reason }) => [id, verdict === "refused" ? `refused: ${reason}` : verdict]),
  );
}

/** Code that leaves a mark when it is evaluated, and one more when its factory runs. */
export function canary(at: TempProject, id: string): string {
  const mark = JSON.stringify(markFile(at));
  return `import { appendFileSync } from "node:fs";
appendFileSync(${mark}, "${id} evaluated\\n");
export default function (pi) {
  appendFileSync(${mark}, "${id} activated\\n");
  pi.on("project_trust", () => void appendFileSync(${mark}, "${id} voted\\n"));
}
`;
}

/** The marks that canaries left, in order. */
export function marks(at: TempProject): string[] {
  const path = markFile(at);
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
}

function markFile(at: TempProject): string {
  return join(at.home, "marks");
}

/** An extension that registers a tool of this name, described as `text`. */
export function toolExtension(name: string, text: string): string {
  return `export default (pi) => {
  pi.registerTool({
    name: ${JSON.stringify(name)},
    description: ${JSON.stringify(text)},
    parameters: { type: "object", properties: {} },
    async execute() { return { content: [] }; },
  });
};
`;
}
