/** Which extensions are loaded, from where, and what those that were unloaded left behind. */
import { type Agent, AgentError, type ExtensionReport, type LeakReport } from "@pi-agent/kernel";
import { isAlive } from "./extensions.ts";

/** Official packages, the person's own extensions, those of the project. */
type Place = "official" | "own" | "project";

/** What unloading left: what could not be taken back, and whose old instances went. */
interface Left {
  leaks: LeakReport["leaks"];
  unloaded: string[];
}

export class Roster {
  private readonly agent: () => Agent;
  private readonly places: Record<Place, readonly ExtensionReport[]> = { official: [], own: [], project: [] };
  private left: Left = { leaks: [], unloaded: [] };

  constructor(agent: () => Agent) {
    this.agent = agent;
  }

  /** In load order. */
  get all(): ExtensionReport[] {
    const { official, own, project } = this.places;
    return [...official, ...own, ...project];
  }

  /** Names of the extensions that have an instance now. */
  get alive(): ReadonlySet<string> {
    return new Set(this.all.filter(isAlive).map(({ owner }) => owner.name));
  }

  of(place: Place): readonly ExtensionReport[] {
    return this.places[place];
  }

  /** Enters what was loaded beside what stays. `before`: names of what had an instance before that. */
  enter(
    place: Place,
    {
      loaded,
      staying = [],
      before,
    }: { loaded: readonly ExtensionReport[]; staying?: readonly ExtensionReport[]; before?: ReadonlySet<string> },
  ): void {
    this.places[place] = [...staying, ...loaded];
    const replaced = loaded.filter(({ owner, state }) => state === "loaded" && before?.has(owner.name));
    this.left.unloaded.push(...replaced.map(({ owner }) => owner.name));
    this.left.leaks.push(...replaced.flatMap(({ leaks = [] }) => leaks));
  }

  /** Unloads, last first, and strikes off. */
  async unload(place: Place, reports: readonly ExtensionReport[]): Promise<void> {
    this.places[place] = this.places[place].filter((each) => !reports.includes(each));
    for (const { owner } of reports.filter(isAlive).toReversed()) {
      const { leaks } = await this.agent().unload(owner.name);
      this.left.unloaded.push(owner.name);
      this.left.leaks.push(...leaks);
    }
  }

  /** Answers what unloading left since the last time. */
  takeLeft(): Left {
    const { left } = this;
    this.left = { leaks: [], unloaded: [] };
    return left;
  }
}

/** Fails when one that was asked for with -e failed, with the errors of the others too (E2). */
export function assertTyped(reports: readonly ExtensionReport[]): void {
  const failed = reports.flatMap(({ owner, error }) => (error ? [{ owner, error }] : []));
  const typed = failed.find(({ owner }) => owner.scope === "flag");
  if (!typed) return;
  const { code, hint, cause, owner } = typed.error;
  const others = failed.filter((each) => each !== typed);
  const message = [typed, ...others].map(({ error }) => error.message).join("\n");
  throw new AgentError(code, message, { hint, cause, owner });
}
