/**
 * The agent: extensions, a transcript, and runs over it, one at a time.
 *
 *   idle ── input, run, continue ──► starting ──► running ──► settled ──► idle
 *                                                   ▲  └─ what was queued meanwhile starts the next run
 *                                  steer, followUp ─┘
 */
import { activateAll, toEntry } from "./activation.ts";
import { abortedEarly, busy, disposed } from "./agent-errors.ts";
import { AgentTables } from "./agent-tables.ts";
import { childOptions, inherit, present } from "./children.ts";
import type { Agent, AgentOptions, ExtensionEntry, ExtensionReport, LeakReport, Outcome, Queue } from "./contract.ts";
import { Core, HOST_OWNER } from "./core.ts";
import { AgentError, toAgentError } from "./errors.ts";
import { enclose } from "./frames.ts";
import { type InputOptions, runCommand, toPrompt } from "./input.ts";
import type { Entry, Message } from "./messages.ts";
import { restoreChoice } from "./model-choice.ts";
import { type Asked, beginRun, performRun, resultOf } from "./perform.ts";
import { interruptedResult } from "./projection.ts";
import { registerPreamble } from "./prompt.ts";
import { Run } from "./run.ts";
import { Scopes } from "./scopes.ts";

/**
 * Makes an agent. Its extensions' factories start at once; `input` and `run` wait until they are done.
 * Owns nothing of the process: no signal handlers, no files.
 */
export function createAgent(options: AgentOptions = {}): Agent {
  return new LoopAgent(options);
}

interface Started {
  began: Promise<void>;
  outcome: Promise<Outcome>;
}

class LoopAgent extends AgentTables implements Agent {
  private readonly scopes: Scopes;
  private readonly started: Promise<void>;
  private current: Promise<Outcome> | undefined;
  /** Prompts are taken one after the other, so that two never start a run together. */
  private intake: Promise<unknown> = Promise.resolve();
  private aborts = 0;
  /** Ends what waits to become a prompt. */
  private readonly door = new Set<() => void>();
  /** Extensions come and go one change after the other. */
  private changes: Promise<unknown> = Promise.resolve();
  private disposal: Promise<LeakReport> | undefined;
  private readonly onHostAbort = () => void this.abort("The host aborted.");

  constructor(options: AgentOptions, parent?: Core) {
    super(
      new Core(options, {
        parent,
        spawn: LoopAgent.spawn,
        wake: () => this.wake(),
        settled: () => this.settled(),
      }),
    );
    this.scopes = new Scopes(this.core);
    if (options.systemPrompt !== undefined) registerPreamble(this.core, options.systemPrompt);
    options.signal?.addEventListener("abort", this.onHostAbort, { once: true });
    this.started = this.extend((options.extensions ?? []).map(toEntry)).then(() => {
      restoreChoice(this.core);
      this.core.ownActivity = "idle";
    });
  }

  // ---------------------------------------------------------------- prompts

  async input(text: string, options: InputOptions = {}): Promise<"started" | "queued" | "handled"> {
    const { aborts } = this;
    await this.ready();
    if (await runCommand(this.core, text, () => this.settled())) return "handled";
    if (aborts !== this.aborts) throw this.disposal ? disposed() : abortedEarly();
    const accepted = this.atTheDoor(this.intake).then(() => this.accept(text, options));
    this.intake = accepted.catch(() => {});
    return accepted;
  }

  async run(text: string) {
    await this.ready();
    if (this.disposal) throw disposed();
    if (!this.isFree()) throw busy("run", this.core.activity);
    this.core.moveTo(null);
    const outcome = await this.start(() => [this.core.toMessage(text)], { text }).outcome;
    return { outcome, ...resultOf(this.core) };
  }

  async continue(): Promise<Outcome> {
    await this.ready();
    if (this.disposal) throw disposed();
    if (!this.isFree()) throw busy("continue", this.core.activity);
    const { transcript } = this.core;
    for (const call of transcript.openCalls) this.core.appendOne({ type: "message", message: interruptedResult(call) });
    const last = transcript.project().at(-1);
    if (!last || last.role === "assistant") {
      const why = last ? "the last message is the assistant's" : "there are no messages";
      throw new AgentError("cannot_continue", `There is nothing to continue from: ${why}.`, {
        hint: "Send a prompt instead.",
      });
    }
    return this.start(() => [], { text: "" }).outcome;
  }

  steer(message: string | Message): void {
    this.enqueue("steer", message);
  }

  followUp(message: string | Message): void {
    this.enqueue("followUp", message);
  }

  async abort(reason?: string): Promise<Queue> {
    const { core } = this;
    const queued = core.queue.clear();
    for (const giveUp of this.door) giveUp();
    this.aborts++;
    core.children.abort(reason);
    core.abortRun(reason);
    await this.current?.catch(() => {});
    // What came while it was aborting comes back as well.
    const late = core.queue.clear();
    return { steering: [...queued.steering, ...late.steering], followUp: [...queued.followUp, ...late.followUp] };
  }

  async settled(): Promise<void> {
    await this.ready();
    // What waits at the door may start a run yet.
    await this.intake.catch(() => {});
    while (this.current) {
      await this.current.catch(() => {});
      await this.intake.catch(() => {});
    }
  }

  get queue(): Queue {
    return this.core.queue.peek();
  }

  clearQueue(): Queue {
    return this.core.queue.clear();
  }

  open(session: { id: string; entries: readonly Entry[] }): void {
    if (this.current) throw busy("open", this.core.activity);
    this.core.sessionId = session.id;
    this.core.transcript.load(session.entries);
    restoreChoice(this.core);
  }

  moveTo(entryId: string | null): void {
    if (this.current) throw busy("move to another entry", this.core.activity);
    this.core.moveTo(entryId);
  }

  // ---------------------------------------------------------------- extensions

  get extensions(): readonly ExtensionReport[] {
    return this.scopes.all.map(({ account }) => account);
  }

  ready(): Promise<void> {
    return this.started;
  }

  extend(entries: readonly ExtensionEntry[], options: { replace?: boolean } = {}): Promise<ExtensionReport[]> {
    const { replace = false } = options;
    if (this.disposal) return Promise.reject(disposed());
    const change = this.changes.then(() =>
      activateAll(this.core, entries, { agent: this, scopes: this.scopes, replace }),
    );
    this.changes = change.catch(() => {});
    return change;
  }

  async unload(ownerName: string): Promise<LeakReport> {
    return this.scopes.endAll(({ owner }) => owner.name === ownerName);
  }

  dispose(): Promise<LeakReport> {
    this.disposal ??= (async () => {
      await this.started;
      this.core.options.signal?.removeEventListener("abort", this.onHostAbort);
      await this.abort("The agent is being disposed of.");
      await this.changes;
      await this.core.children.dispose();
      await this.core.tell({ type: "session_shutdown", reason: "quit" });
      await this.core.flush("dispose");
      return this.scopes.endAll(() => true);
    })();
    return this.disposal;
  }

  // ---------------------------------------------------------------- inside

  private static spawn(this: void, parent: Core, options: AgentOptions): Agent {
    const child = new LoopAgent(childOptions(parent, options), parent);
    inherit(parent, child.core);
    present(parent, child);
    return child;
  }

  private async accept(text: string, options: InputOptions): Promise<"started" | "queued" | "handled"> {
    const prompt = await this.atTheDoor(toPrompt(this.core, text, options));
    if (!prompt) return "handled";
    // Nothing enters a run that is being aborted.
    while (this.core.run?.isAborted) await this.current?.catch(() => {});
    if (this.disposal) throw disposed();
    if (!this.isFree()) {
      this.core.queue.add(options.whileRunning ?? "steer", prompt.message);
      return "queued";
    }
    await this.start(() => [prompt.message], prompt).began;
    return "started";
  }

  /** Waits for a prompt on its way in; an abort ends that with `aborted`. */
  private atTheDoor<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(this.disposal ? disposed() : abortedEarly());
      this.door.add(giveUp);
      work.then(resolve, reject).finally(() => this.door.delete(giveUp));
    });
  }

  private isFree(): boolean {
    return this.current === undefined && this.core.activity === "idle";
  }

  private enqueue(kind: "steer" | "followUp", given: string | Message): void {
    this.core.queue.add(kind, this.core.toMessage(given));
    this.wake();
  }

  /** Starts a run when something waits and nothing runs. Without a model it goes on waiting, and says so. */
  private wake(): void {
    this.intake = this.intake.then(() => this.startQueued()).catch((thrown: unknown) => this.reportRun(thrown));
  }

  private async startQueued(): Promise<void> {
    await this.ready();
    const { queue } = this.core;
    if (!this.isFree() || !queue.isDue || this.disposal) return;
    const takeQueued = () => {
      const steering = queue.takeSteering();
      return steering.length > 0 ? steering : queue.takeFollowUp();
    };
    await this.start(takeQueued, { text: "" }).began;
  }

  /**
   * Starts a run; what enters it is taken once there is a model and a key, for which `began` waits. What fails before is
   * told to the caller, and what fails later is reported as well.
   */
  private start(entering: () => Message[], asked: Asked): Started {
    const { core } = this;
    const run = new Run(core.options.graceMs, () => core.hooks.deadlines.abandon());
    core.run = run;
    core.ownActivity = "running";
    core.queue.release();
    core.parent?.children.running.add(this);
    core.hooks.deadlines.beginRun();
    if (core.options.signal?.aborted) run.abort("The host aborted.");
    const settle = (outcome: Outcome) => {
      run.end();
      core.hooks.deadlines.endRun();
      core.run = undefined;
      core.ownActivity = "idle";
      this.current = undefined;
      core.parent?.children.running.delete(this);
      if (outcome !== "done" && outcome !== "stopped") core.queue.hold();
      this.wake();
      return outcome;
    };
    const began = enclose(() => beginRun(core, run));
    const outcome = enclose(async () => {
      await began;
      return performRun(core, run, { entering: entering(), asked });
    }).then(settle, (thrown: unknown) => {
      settle("error");
      throw thrown;
    });
    this.current = outcome;
    const hasBegun = began.then(
      () => true,
      () => false,
    );
    outcome.catch(async (thrown: unknown) => (await hasBegun) && this.reportRun(thrown));
    return { began, outcome };
  }

  private reportRun(thrown: unknown): void {
    this.core.report({ owner: HOST_OWNER, event: "run", error: toAgentError(thrown) });
  }
}
