/** What a person should know about the last load, beside what their files say. */
import type { Agent, AgentError, Owner, Undo } from "@pi-agent/kernel";
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
  private readonly undos = new Set<string>();

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

  /** Tells of an undo that failed, once in the life of an agent. */
  async addUndo(agent: Agent, error: AgentError): Promise<void> {
    if (this.undos.has(error.message)) return;
    this.undos.add(error.message);
    await this.addLeft(agent, error);
  }

  /** Tells of something that a reload left. Without an owner it is the host that tells it. */
  async addLeft(agent: Agent, error: AgentError): Promise<void> {
    this.add("faults", [error]);
    await tellFault(agent, { name: error.owner ?? "host" }, { event: "reload", error });
  }
}

/** Tells what an extension did wrong, as the kernel does. */
export async function tellFault(
  agent: Agent,
  { name: owner, path: extensionPath }: Pick<Owner, "name" | "path">,
  { event, error }: { event: string; error: AgentError },
): Promise<void> {
  const { message, code } = error;
  await agent.dispatch("fault", { owner, error });
  await agent.dispatch("extension_error", { owner, extensionPath, event, error: message, code });
}
