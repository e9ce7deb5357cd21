/**
 * What changes a running agent under its front end: another session, another place in it, new versions of extensions.
 *
 *   asked ─► settled ─► session_shutdown ─► project left, when the boundary moves ─► session opened
 *     └─ no: cancelled                        ─► what is new is settled, trust first ─► session_start
 *
 * 1. One at a time: a second one is refused, not queued, since the first may be waiting for who asks.
 * 2. A run is aborted and settles first, and what is prompted from then on waits. While the conversation is being
 *    summarised nothing changes under it.
 * 3. What can fail, fails before session_shutdown: from there on it is gone through to session_start.
 * 4. The hooks that ask are those of whoever provides the service `sessions`. Without it nobody is asked, and sessions
 *    are kept in memory.
 */
import { AgentError, type Host, runAs, uuidv7 } from "@pi-agent/kernel";
import { countHoldings } from "./leaks.ts";
import { navigate } from "./navigate.ts";
import type { Phases } from "./phases.ts";
import { resolveFrom } from "./places.ts";
import type { ProjectTrust } from "./project-trust.ts";
import { noSessions, type SessionTarget, sessionsOf } from "./sessions-service.ts";
import { tellChange, tellDropped, tellLeaks, wordGone } from "./tell-change.ts";
import { copyWay } from "./tree.ts";
import type { TrustGrant } from "./trust.ts";

export interface LifeCycle extends Pick<Host, "newSession" | "switchSession" | "fork" | "navigateTree" | "reload"> {
  /** Puts another decision about the project in force (T10). */
  changeTrust(decide: Decide): Promise<void>;
  /** Fires the signal of what is under way; resolves when it is through. */
  end(): Promise<void>;
}

/** Decides anew about the project. */
export type Decide = (trust: ProjectTrust) => Promise<TrustGrant>;

type Reason = "new" | "resume" | "fork";
const DONE = { cancelled: false };
const CANCELLED = { cancelled: true };
// What changes is the host's doing, whichever extension asked for it.
const HOST = { name: "host", scope: "host" } as const;

/** Makes the life cycle of an agent. Each operation fails with `session_busy` while it cannot be. */
export function createLifeCycle(phases: Phases): LifeCycle {
  const ending = new AbortController();
  let current: { what: string; through: Promise<void> } | undefined;
  const alone = async <T>(what: string, change: () => Promise<T>): Promise<T> => {
    if (current) throw busy(what, `it is about to ${current.what}`);
    const { promise: through, resolve } = Promise.withResolvers<void>();
    current = { what, through };
    try {
      return await runAs(HOST, change);
    } finally {
      current = undefined;
      resolve();
    }
  };
  const settle = (what: string) => settleAgent(phases, what);
  return {
    end: async () => {
      ending.abort();
      await current?.through;
    },

    newSession: ({ parentSession } = {}) =>
      alone("begin a session", async () => {
        const { agent, places } = phases;
        const { cwd } = places;
        const sessions = sessionsOf(agent);
        const answer = await sessions?.fire?.("session_before_switch", { reason: "new" });
        if (answer?.cancel) return CANCELLED;
        const target = (await sessions?.create?.({ cwd, parentSession })) ?? inMemory(cwd, []);
        return replaceSession(phases, { reason: "new", target, settle: () => settle("begin a session") });
      }),

    switchSession: (given) =>
      alone("switch sessions", async () => {
        const { agent, places } = phases;
        const sessions = sessionsOf(agent);
        if (!sessions?.open) throw noSessions();
        // A store without files names its sessions by their ids.
        const path = isPath(given) ? resolveFrom(places.cwd, given, places.home) : given;
        const answer = await sessions.fire?.("session_before_switch", { reason: "resume", targetSessionFile: path });
        if (answer?.cancel) return CANCELLED;
        const target = await sessions.open(path);
        return replaceSession(phases, { reason: "resume", target, settle: () => settle("switch sessions") });
      }),

    fork: (entryId, { position = "before" } = {}) =>
      alone("fork the session", async () => {
        const { agent, places } = phases;
        const { cwd } = places;
        const entry = agent.transcript.get(entryId);
        if (!entry) throw unknownEntry(entryId);
        const sessions = sessionsOf(agent);
        const answer = await sessions?.fire?.("session_before_fork", { entryId, position });
        if (answer?.cancel) return CANCELLED;
        const entries = copyWay(agent.transcript, position === "at" ? entry.id : entry.parentId);
        // Where no file is, the id tells.
        const parentSession = sessions?.current?.file ?? sessions?.current?.id;
        const target = (await sessions?.create?.({ cwd, parentSession, entries })) ?? inMemory(cwd, entries);
        return replaceSession(phases, { reason: "fork", target, settle: () => settle("fork the session") });
      }),

    navigateTree: (entryId, options = {}) =>
      alone("go to another entry", async () => {
        const { agent } = phases;
        if (!agent.transcript.get(entryId)) throw unknownEntry(entryId);
        const { signal } = ending;
        return navigate(agent, { entryId, options, signal, settle: () => settle("go to another entry") });
      }),

    reload: () => alone("reload", () => reload(phases, () => settle("reload"))),

    changeTrust: (decide) =>
      alone("change what is trusted", async () => {
        await settle("change what is trusted");
        await changeTrust(phases, decide);
      }),
  };
}

async function replaceSession(
  phases: Phases,
  { reason, target, settle }: { reason: Reason; target: SessionTarget; settle: () => Promise<void> },
): Promise<{ cancelled: boolean }> {
  const { agent } = phases;
  const places = phases.placesOf(target.cwd || phases.places.cwd);
  const isElsewhere = places.cwd !== phases.places.cwd;
  const previousSessionFile = sessionsOf(agent)?.current?.file;
  await settle();
  await agent.exclusive("starting", async () => {
    await agent.dispatch("session_shutdown", { reason, targetSessionFile: target.file });
    await agent.dispatch("transcript_flush", { reason: "settled" });
    const stopNoting = phases.told.noteFaults(agent);
    try {
      if (isElsewhere) await phases.leaveFor(places);
      agent.open(target);
      if (isElsewhere) await phases.arrive();
    } finally {
      await agent.dispatch("session_start", { reason, previousSessionFile });
      await stopNoting();
    }
  });
  if (isElsewhere) tellChange(phases);
  await tellLeaks(phases);
  return DONE;
}

async function reload(phases: Phases, settle: () => Promise<void>): Promise<void> {
  const { agent } = phases;
  await settle();
  const before = countHoldings();
  await agent.exclusive("starting", async () => {
    await agent.dispatch("session_shutdown", { reason: "reload" });
    const stopNoting = phases.told.noteFaults(agent);
    try {
      await phases.reload();
      await agent.dispatch("resources_changed", { reason: "reload" });
    } finally {
      await agent.dispatch("session_start", { reason: "reload" });
      await stopNoting();
    }
  });
  tellChange(phases);
  await tellLeaks(phases, before);
}

async function changeTrust(phases: Phases, decide: Decide): Promise<void> {
  const { agent } = phases;
  const stopNoting = phases.told.noteFaults(agent);
  try {
    const gone = await agent.exclusive("starting", () => phases.loadDecided(decide));
    if (gone.length > 0) agent.append([wordGone(gone)]);
  } finally {
    await stopNoting();
  }
  tellChange(phases);
  await tellLeaks(phases);
}

/** Ends the run that is going on. Fails with `session_busy` while the conversation is being summarised. */
async function settleAgent({ agent, host }: Phases, what: string): Promise<void> {
  do tellDropped(host.ui, await agent.abort(`The agent is about to ${what}.`));
  while (agent.state.runId !== undefined);
  const { activity } = agent.state;
  if (activity !== "idle") throw busy(what, `it is ${activity}`);
}

function isPath(given: string): boolean {
  return /[/\\]|\.jsonl$|^~/.test(given);
}

function inMemory(cwd: string, entries: SessionTarget["entries"]): SessionTarget {
  return { id: uuidv7(), cwd, entries };
}

function busy(what: string, why: string): AgentError {
  return new AgentError("session_busy", `The agent cannot ${what} now: ${why}.`, {
    hint: "Wait until that is done, then try again.",
  });
}

function unknownEntry(id: string): AgentError {
  return new AgentError("unknown_entry", `There is no entry ${id} in this session.`, {
    hint: "Look the ids up with transcript.path() or transcript.children().",
  });
}
