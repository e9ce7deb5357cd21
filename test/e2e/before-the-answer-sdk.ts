/**
 * Loads a project as embedding code does, in the ways that are named, and writes which files each plan says were opened
 * to `<elsewhere>/opened`. The trace of each way begins with a mark.
 *
 *   node --conditions @pi-agent/source before-the-answer-sdk.ts <project> <elsewhere> <way>…
 */
import { openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread, Worker } from "node:worker_threads";
import { headlessUi } from "@pi-agent/kernel";
import { type AskTrust, type Loaded, type LoadOptions, load } from "@pi-agent/loader";
import sessions from "@pi-agent/sessions";
import { SCRIPTED_MODEL, scriptedProvider } from "@pi-agent/testing";

const [project = "", elsewhere = "", ...ways] = process.argv.slice(2);
const opened: Record<string, readonly string[]> = {};

const official: LoadOptions["official"] = [
  { owner: { name: "@pi-agent/sessions", scope: "official" }, extension: sessions },
  { owner: { name: "scripted", scope: "official" }, extension: scriptedProvider(() => ({ text: "Done." })) },
];

function start(options: Partial<LoadOptions> = {}): Promise<Loaded> {
  return load({ cwd: project, official, ...options });
}

function asking(askTrust: AskTrust): Partial<LoadOptions> {
  return { mode: { name: "tui", hasUI: true, ui: headlessUi, askTrust } };
}

const WAYS: Record<string, () => Promise<Loaded | undefined>> = {
  nothing: () => start(),
  untrusted: () => start({ trust: "not-now" }),
  never: () => start({ trust: "never" }),
  "no-context": () => start({ flags: { noContextFiles: true } }),
  // The question is never answered: it is the last thing that happens.
  unanswered: () =>
    start(
      asking((plan) => {
        tell("unanswered", plan.opened);
        process.exit(0);
      }),
    ),
  "not-now": () => start(asking(() => "not-now")),
  "not-an-answer": () => start(asking(() => "yes")),
  reload: async () => {
    const loaded = await start(asking(() => "not-now"));
    await loaded.host.reload();
    await loaded.host.newSession();
    return loaded;
  },
  fork: async () => {
    const loaded = await start();
    const { agent, host } = loaded;
    await agent.setModel(SCRIPTED_MODEL);
    await agent.dispatch("session_start", { reason: "startup" });
    await agent.input("Go.");
    await agent.settled();
    const entry = agent.transcript.path().find(({ type }) => type === "message");
    await host.fork(entry?.id ?? "", { position: "at" });
    await host.navigateTree(entry?.id ?? "", {});
    return loaded;
  },
  switch: async () => {
    const loaded = await start({ cwd: elsewhere });
    await loaded.host.switchSession(writeSession());
    return loaded;
  },
  resume: () => start({ cwd: elsewhere, flags: { values: new Map([["session", writeSession()]]) } }),
  worker: async () => {
    const worker = new Worker(new URL(import.meta.url), { argv: [project, elsewhere] });
    await new Promise((resolve, reject) => void worker.once("exit", resolve).once("error", reject));
    return undefined;
  },
  // What the others are compared with: here all of it happens.
  approved: () => start({ flags: { approve: true } }),
};

for (const way of isMainThread ? ways : ["nothing"]) {
  if (isMainThread) mark(way);
  const loaded = await WAYS[way]!();
  if (loaded) tell(way, loaded.report.plan.opened);
  await loaded?.dispose();
}

function mark(name: string): void {
  try {
    openSync(`/mark/${name}`, "r");
  } catch {
    // It is not there; that it was asked for is in the trace.
  }
}

function tell(way: string, files: readonly string[]): void {
  opened[way] = files;
  if (isMainThread) writeFileSync(join(elsewhere, "opened"), JSON.stringify(opened));
}

/** A session that was held in the project. */
function writeSession(): string {
  const file = join(elsewhere, "session.jsonl");
  const header = {
    type: "session",
    version: 3,
    id: "0197a000-0000-7000-8000-000000000000",
    timestamp: new Date(0),
    cwd: project,
  };
  writeFileSync(file, `${JSON.stringify(header)}\n`);
  return file;
}
