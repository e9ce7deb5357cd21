/**
 * From the events of one agent to the lines of its runs:
 *
 *   agent_start ─► run          transcript_append ─► step          agent_settled ─► end
 *   every turn, and every 20 seconds while one takes longer ─► beat
 */
import { hostname } from "node:os";
import type { Agent, Context, Entry, HookEvent, Json, Outcome, Usage } from "@pi-agent/kernel";
import type { Spool } from "./spool.ts";

/** How often a run says that it goes on; three times of silence, and it is taken for interrupted. */
const BEAT_MS = 20_000;
// What was appended between two runs goes with the next one; a whole session that was loaded does not.
const MAX_BETWEEN = 1_000;
const SUMMED = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] as const;

export interface RecorderOptions {
  spool(): Spool;
  activeTools(): readonly string[];
  /** Of the agent that made this one. */
  parentRunId?: string;
  /** Where it is listed while a run goes on. */
  running: Set<Recorder>;
}

interface Run {
  id: string;
  seq: number;
  iteration: number;
  usage: Record<(typeof SUMMED)[number], number>;
  cost: number;
  /** Something was spent since the last beat. */
  isNews: boolean;
  lastFailure: Json | undefined;
  heart: NodeJS.Timeout;
}

export class Recorder {
  private readonly options: RecorderOptions;
  private run: Run | undefined;
  private between: Entry[] = [];

  constructor(options: RecorderOptions) {
    this.options = options;
  }

  /** Records what an agent does from now on. */
  listen(on: Agent["on"]): void {
    on("agent_start", (event, ctx) => this.start(event, ctx));
    on("turn_start", ({ turnIndex }) => {
      if (this.run) this.run.iteration = turnIndex;
    });
    on("transcript_append", ({ entry }) => this.keep(entry));
    on("transcript_flush", () => this.flush());
    on("agent_settled", ({ outcome }) => this.end(outcome));
  }

  /** Lets go of a run that goes on: its silence tells. */
  stop(): void {
    clearInterval(this.run?.heart);
    this.run = undefined;
    this.options.running.delete(this);
  }

  /** A run begins once, however often its loop does. */
  private start({ runId: id }: HookEvent<"agent_start">, ctx: Context): void {
    if (this.run?.id === id) return;
    this.stop();
    const { model, thinkingLevel, mode, sessionId: session, cwd } = ctx;
    const { parentRunId } = this.options;
    const config: Json = {
      model: model ? `${model.provider}/${model.id}` : null,
      thinkingLevel,
      mode,
      tools: [...this.options.activeTools()],
      ...(parentRunId !== undefined && { parentRunId }),
    };
    this.options.spool().line({ t: "run", at: Date.now(), id, session, cwd, host: hostname(), config });
    const heart = setInterval(() => this.beat(), BEAT_MS).unref();
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
    this.run = { id, seq: 0, iteration: 0, usage, cost: 0, isNews: false, lastFailure: undefined, heart };
    this.options.running.add(this);
    for (const entry of this.between) this.keep(entry);
    this.between = [];
  }

  private keep(entry: Entry): void {
    const { run } = this;
    if (!run) {
      if (this.between.length === MAX_BETWEEN) this.between.shift();
      this.between.push(entry);
      return;
    }
    const step = { run: run.id, seq: run.seq++, iteration: run.iteration };
    this.options.spool().entry(entry, { step });
    count(run, entry);
  }

  private flush(): void {
    if (!this.run) return;
    if (this.run.isNews) this.beat();
    this.options.spool().flush();
  }

  private beat(): void {
    const { run } = this;
    if (!run) return;
    run.isNews = false;
    this.options.spool().line({ t: "beat", at: Date.now(), id: run.id, usage: { ...run.usage }, cost: run.cost });
  }

  private end(status: Outcome): void {
    const { run } = this;
    if (!run) return;
    this.stop();
    const error = status === "error" ? (run.lastFailure ?? { kind: "unknown", message: null }) : undefined;
    const spool = this.options.spool();
    const { id, usage, cost } = run;
    spool.line({ t: "end", at: Date.now(), id, status, usage, cost, ...(error !== undefined && { error }) });
    spool.flush();
  }
}

/** Adds up what an entry cost, whatever it is the entry of. */
function count(run: Run, entry: Entry): void {
  const message = entry.type === "message" ? entry.message : undefined;
  if (message?.role === "assistant") {
    const { failure, errorMessage } = message;
    run.lastFailure =
      errorMessage === undefined ? undefined : { kind: failure?.kind ?? "unknown", message: errorMessage };
  }
  const usage = ((message ?? entry) as { usage?: Usage }).usage;
  if (!usage) return;
  for (const key of SUMMED) run.usage[key] += usage[key] ?? 0;
  run.cost += usage.cost?.total ?? 0;
  run.isNews = true;
}
