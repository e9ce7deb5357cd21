/** What is asked of whoever keeps sessions: which one to begin with, and what changing it takes. */
import {
  type Agent,
  AgentError,
  type Entry,
  type FlagValue,
  type Json,
  type ServiceName,
  type Usage,
} from "@pi-agent/kernel";

/** A session to go on with; `file` is left out for one that is kept in memory. */
export interface SessionTarget {
  id: string;
  /** Empty where nobody knows. */
  cwd: string;
  entries: readonly Entry[];
  file?: string;
}

/** What handlers of the hooks that ask may answer. */
export interface ChangeAnswer {
  cancel?: boolean;
  summary?: { summary: string; details?: Json; usage?: Usage };
  customInstructions?: string;
  label?: string;
}

/** Every member may be missing. */
interface SessionsService {
  readonly current?: { id?: string; file?: string };
  fire?(hook: string, event: object): Promise<ChangeAnswer | void>;
  open?(path: string): Promise<SessionTarget>;
  create?(given: { cwd: string; parentSession?: string; entries?: readonly Entry[] }): Promise<SessionTarget>;
}

/**
 * Asks which session to begin with. Fails with what choosing failed with: one that was asked for and cannot be had is no
 * reason to begin another one.
 */
export async function askForSession(agent: Agent, flags: ReadonlyMap<string, FlagValue>) {
  const faults: Error[] = [];
  const stop = agent.on("fault", ({ error }) => void faults.push(error));
  const session = await agent.dispatch("session_select", { flags });
  await stop();
  if (!session && faults[0]) throw faults[0];
  return session;
}

/** Finds the service `sessions`. */
export function sessionsOf(agent: Agent): SessionsService | undefined {
  const service: unknown = agent.service("sessions" as ServiceName);
  return service as SessionsService | undefined;
}

/** Says that nobody keeps sessions. */
export function noSessions(): AgentError {
  return new AgentError("no_service", "Nothing that is loaded keeps sessions, so there is none to switch to.", {
    hint: "Install a package that provides the service `sessions`, such as @pi-agent/sessions.",
  });
}
