import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Script, type TempProject, type TempProjectOptions, tempProject } from "@pi-agent/testing";
import { type PiRun, type RunPiOptions, runPi } from "@pi-agent/testing/house";
import { modelsJson, startWireServer, type WireServer } from "@pi-agent/testing/wire";
import { expect } from "vitest";

/** A project, a home whose models.json knows a wire server, and the built command in them. */
export interface Workbench extends TempProject {
  server: WireServer;
  /** Starts `pi` in the project. */
  pi(args: readonly string[], options?: Partial<RunPiOptions>): PiRun;
  /** Starts `pi -p` with the scripted model. */
  ask(prompt: string, ...more: string[]): PiRun;
}

/** Opens a workbench; at the end of its block nothing of it is left, and a process that is left fails the test. */
export async function openWorkbench(script: Script, options: TempProjectOptions = {}): Promise<Workbench> {
  const server = await startWireServer({ script });
  // Who tests a failure does not wait for its retries.
  const agentFiles = { "settings.json": JSON.stringify({ retry: { enabled: false } }), ...options.agentFiles };
  const project = await tempProject({ ...options, agentFiles });
  await project.write(join(project.agentDir, "models.json"), JSON.stringify(modelsJson(server.url)));
  const runs: PiRun[] = [];
  const pi: Workbench["pi"] = (args, more = {}) => {
    const run = runPi(args, { cwd: project.path, home: project.home, ...more });
    runs.push(run);
    return run;
  };
  const close = async () => {
    const left = runs.flatMap((run) => run.reap());
    await Promise.allSettled(runs.map((run) => run.done));
    await server.close();
    await project.cleanup();
    expect(left).toEqual([]);
  };
  return {
    ...project,
    server,
    pi,
    ask: (prompt, ...more) => pi(["-p", prompt, "--model", "wire-anthropic/scripted", ...more]),
    cleanup: close,
    [Symbol.asyncDispose]: close,
  };
}

export type Line = { type: string; [field: string]: unknown };

/** Parses text that has to be one JSON object per line, each ended by a line feed. */
export function parseLines(text: string): Line[] {
  expect(text === "" || text.endsWith("\n")).toBe(true);
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

/** Reads the session files of a home, and checks that each is whole: header first, every parent before its child. */
export async function readSessions(agentDir: string): Promise<Line[][]> {
  const folder = join(agentDir, "sessions");
  if (!existsSync(folder)) return [];
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => name.endsWith(".jsonl")).toSorted();
  const sessions = await Promise.all(files.map(async (name) => parseLines(await readFile(join(folder, name), "utf8"))));
  for (const [header, ...entries] of sessions) {
    expect(header).toMatchObject({ type: "session", version: 3 });
    const seen = new Set<unknown>([null]);
    for (const entry of entries) {
      expect(seen).toContain(entry.parentId);
      seen.add(entry.id);
    }
  }
  return sessions;
}

/** The messages of a session's entries. */
export function messagesOf(session: readonly Line[]): Record<string, unknown>[] {
  return session.flatMap((entry) => (entry.type === "message" ? [entry.message as Record<string, unknown>] : []));
}
