/**
 * The tools of the agent in force: which are on, and that no other one runs.
 *
 *   usual ── hold ──► listed, or what is usual and allowed ── narrow: what others switch on goes off again ── end ──► usual
 *
 * 1. What is not allowed is refused by the kernel's own check of limits, which no hook lifts, and which holds for the
 *    agents made under this one.
 * 2. What comes while an agent is in force and would be on without it, is on after it.
 */
import type { ExtensionAPI, Undo } from "@pi-agent/kernel";
import type { AgentPlan } from "./plan.ts";
import { isTyped, leftByFlags } from "./typed-tools.ts";

export class ToolHold {
  private readonly pi: ExtensionAPI;
  /** What is on without an agent, and what there was when that was noted. */
  private usualTools: { on: Set<string>; known: Set<string> } | undefined;
  private allowed: ReadonlySet<string> | undefined;
  private release: Undo | undefined;

  constructor(pi: ExtensionAPI) {
    this.pi = pi;
  }

  get usual(): string[] {
    return [...(this.usualTools?.on ?? [])];
  }

  /** Holds to an agent's tools in place of those before. `usual`: what a session says is on without an agent. */
  hold(plan: AgentPlan, usual?: readonly string[]): void {
    this.noteUsual(usual);
    this.noteNewcomers();
    this.limit(plan.allowed, plan.file.name);
    const listed = plan.listed?.filter(leftByFlags(this.pi, new Set(this.usual)));
    this.switchOn(listed ?? this.usual.filter((each) => this.isAllowed(each)));
  }

  /** Switches off what is on and not allowed. */
  narrow(): void {
    if (!this.allowed) return;
    this.noteNewcomers();
    this.switchOn(this.pi.getActiveTools().filter((name) => this.isAllowed(name)));
  }

  /** Goes back to what is usual; `usual` as in `hold`. */
  end(usual?: readonly string[]): void {
    if (usual) this.noteUsual(usual);
    this.limit(undefined, "");
    if (this.usualTools) this.switchOn(this.usual);
    this.usualTools = undefined;
  }

  private limit(allowed: readonly string[] | undefined, name: string): void {
    const release = this.release;
    const names = allowed && new Set(allowed);
    const has = allowed?.join(", ") || "none";
    this.release =
      names &&
      this.pi.limitEffects({
        ceiling: "execute",
        reason: `the agent ${name}`,
        classify: ({ toolName }) => {
          if (names.has(toolName)) return undefined;
          // A limit only ever lowers effects; one that fails refuses the call, whatever its effect.
          throw new Error(`The agent ${name} does not have the tool ${toolName}. Its tools: ${has}.`);
        },
      });
    this.allowed = names;
    // Only now, so that there is no moment without a limit.
    void release?.();
  }

  private isAllowed(name: string): boolean {
    return !this.allowed || this.allowed.has(name);
  }

  /** What is on and was not there before would be on without an agent. */
  private noteNewcomers(): void {
    const { on, known } = this.usualTools!;
    for (const name of this.pi.getActiveTools()) {
      if (!known.has(name)) on.add(name);
      known.add(name);
    }
  }

  /** What flags say is on counts more than what a session says. */
  private noteUsual(usual: readonly string[] | undefined): void {
    const told = isTyped(this.pi) ? undefined : usual;
    if (this.usualTools && !told) return;
    this.usualTools = {
      on: new Set(told ?? this.pi.getActiveTools()),
      known: new Set(this.pi.getAllTools().map(({ name }) => name)),
    };
  }

  private switchOn(names: readonly string[]): void {
    const active = this.pi.getActiveTools();
    if (active.length === names.length && active.every((name) => names.includes(name))) return;
    this.pi.setActiveTools([...names]);
  }
}
