/** What a person should know about the last load, beside what their files say. */
import type { Agent, AgentError, Undo } from "@pi-agent/kernel";
import { wordExtensionFault } from "./problems.ts";

export class Told {
  /** That the session is held elsewhere. */
  moved: AgentError | undefined;
  /** About files that were to be extensions. */
  files: AgentError[] = [];
  /** About the decision. */
  trust: AgentError[] = [];
  /** What extensions did wrong while the agent was loaded or changed. */
  faults: AgentError[] = [];
  private readonly leaks = new Set<string>();

  get all(): AgentError[] {
    return [...(this.moved ? [this.moved] : []), ...this.files, ...this.trust, ...this.faults];
  }

  /** Begins anew: a problem that is still there is found again. */
  forget(): void {
    this.moved = undefined;
    this.files = [];
    this.trust = [];
    this.faults = [];
  }

  /** Adds what is not told yet. */
  add(about: "files" | "faults", problems: readonly AgentError[]): void {
    const known = this[about];
    known.push(...problems.filter(({ message }) => !known.some((each) => each.message === message)));
  }

  /** Notes what extensions do wrong until the undo. A failed load is told by its report. */
  noteFaults(agent: Agent): Undo {
    return agent.on("extension_error", ({ event, ...fault }) => {
      // A name that was lost is lost anew with each new version: it is told once.
      if (event !== "load" && event !== "reload") this.add("faults", [wordExtensionFault(event, fault)]);
    });
  }

  /** Tells of something that an extension left, once in the life of an agent. */
  async addLeak(agent: Agent, error: AgentError): Promise<void> {
    const { message, code, owner = "" } = error;
    if (this.leaks.has(message)) return;
    this.leaks.add(message);
    this.add("faults", [error]);
    await agent.dispatch("extension_error", { owner, event: "reload", error: message, code });
  }
}
