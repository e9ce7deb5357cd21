/** Runs a sub-command that a package registered. */
import type { CliCommand } from "@pi-agent/kernel";
import type { Loaded } from "@pi-agent/loader";
import { loadAgent, type Start } from "../load-agent.ts";
import { reportLoad } from "../report-load.ts";
import { runMode } from "../run-mode.ts";

/** Runs it, goes on into a mode when it asks for that, and answers the exit code. */
export async function runRegistered(
  command: CliCommand,
  args: string[],
  { start, loaded }: { start: Start; loaded: Loaded },
): Promise<number> {
  const { output, exit } = start;
  const { agent, host } = loaded;
  const result = await command.run(args, {
    cwd: host.cwd,
    // Opened when it is asked for.
    get stdin() {
      return process.stdin;
    },
    stdout: output.stream,
    stderr: process.stderr,
    signal: exit.signal,
    agent,
    host,
  });
  if (typeof result === "number") return result;
  const { entries, cwd, prompt, sessionId } = result.start;
  const next = cwd === host.cwd ? loaded : await moveTo(cwd, start, loaded);
  next.agent.open({ id: sessionId ?? next.agent.sessionId, entries });
  const words = prompt === undefined ? [] : [prompt];
  return runMode(start, next, { flags: new Map(), words, files: [] });
}

/** Another folder is another project: what was loaded for the first goes, trust is settled anew. */
async function moveTo(cwd: string, start: Start, loaded: Loaded): Promise<Loaded> {
  await loaded.dispose();
  process.chdir(cwd);
  const { loaded: next } = await loadAgent(start, cwd);
  start.exit.before(() => next.dispose());
  reportLoad(next);
  return next;
}
