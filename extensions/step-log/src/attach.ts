import type { Context, ExtensionAPI, Ui } from "@pi-agent/kernel";
import { Secrets, secretsOf } from "./mask.ts";
import { fileSink, logPath, type Sink, streamSink } from "./sink.ts";
import { StepLog } from "./step-log.ts";

declare module "@pi-agent/kernel" {
  interface Services {
    /** The real standard output, where a mode keeps everything else away from it. */
    stdout: { write(text: string): unknown };
  }
}

/** Logs every run from now on to `stderr`, `stdout` or a file, those of children too. Fails with `log_stdout`. */
export function attachLog(pi: ExtensionAPI, target: string): void {
  const out = new Output(pi, target);
  const secrets = new Secrets();
  const learnNames = () => {
    const names = pi.service("credentials")?.names() ?? [];
    secrets.learn(names.map((name) => process.env[name]));
  };
  const watch = (agent: Watched, activeTools: () => readonly string[], parentRunId?: string): void => {
    const write = (line: string) => out.write(line);
    const log = new StepLog({ mask: secrets.mask, activeTools, write, parentRunId });
    agent.on("agent_start", (event, ctx) => {
      if (out.isClosed) return;
      learnNames();
      out.open(ctx);
      log.startRun(event, ctx);
    });
    agent.on("provider_call", (request, next, ctx) => {
      if (out.isClosed) return next(request);
      secrets.learn(secretsOf(request.auth));
      out.open(ctx);
      return log.watchCall(request, next, ctx);
    });
    agent.on("turn_start", (event) => log.startTurn(event));
    agent.on("tool_execution_start", (event) => log.startTool(event));
    agent.on("tool_execution_end", (event) => log.endTool(event));
    agent.on("agent_end", (event) => log.endLoop(event));
    agent.on("agent_settled", (event) => log.endRun(event));
    agent.on("child_created", (event) => {
      if (!out.isClosed) watch(event.child, () => event.child.state.activeTools, event.parentRunId);
    });
  };
  watch(pi, () => pi.getActiveTools());
  pi.onDispose(() => out.close());
}

type Watched = Pick<ExtensionAPI, "on">;

/** Where the lines go: opened by the first run, in its working directory. */
class Output {
  isClosed = false;
  private sink: Sink | undefined;
  // What is lost is known only when the extension is unloaded, and its context with it.
  private ui: Ui | undefined;
  private readonly pi: ExtensionAPI;
  private readonly target: string;

  constructor(pi: ExtensionAPI, target: string) {
    this.pi = pi;
    this.target = target;
  }

  open({ ui, cwd }: Context): void {
    this.ui = ui;
    const tell = (error: Error) => this.ui?.notify(unwritable(this.target, error), "error");
    this.sink ??= openSink(this.pi, this.target, { cwd, tell });
  }

  write(line: string): void {
    this.sink?.write(line);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const dropped = (await this.sink?.close()) ?? 0;
    this.sink = undefined;
    if (dropped === 0) return;
    this.ui?.notify(`The step log ${this.target} lacks ${dropped} lines that could not be written.`, "warning");
  }
}

/** Fails with `log_stdout` where standard output carries something else. */
export function assertMode(pi: ExtensionAPI, target: string, mode: string): void {
  if (target !== "stdout" || mode === "print" || mode === "sdk") return;
  throw pi.error("log_stdout", `--log stdout cannot be used here: standard output belongs to the mode ${mode}.`, {
    hint: "Log to stderr or to a file, or use -p.",
  });
}

function openSink(pi: ExtensionAPI, target: string, at: { cwd: string; tell(error: Error): void }): Sink {
  if (target === "stdout") return streamSink(pi.service("stdout") ?? process.stdout, (error) => at.tell(error));
  if (target === "stderr") return streamSink(process.stderr, (error) => at.tell(error));
  return fileSink(logPath(target, at.cwd), (error) => at.tell(error));
}

function unwritable(target: string, error: Error): string {
  return `The step log cannot be written to ${target}: ${error.message}. The run goes on without it. Choose another file with --log.`;
}
