import type { Context, ExtensionAPI, Ui } from "@pi-agent/kernel";
import { createMask } from "./mask.ts";
import { fileSink, logPath, type Sink, streamSink } from "./sink.ts";
import { StepLog } from "./step-log.ts";

declare module "@pi-agent/kernel" {
  interface Services {
    /** The real standard output, where a mode keeps everything else away from it. */
    stdout: { write(text: string): unknown };
  }
}

/** Logs every run from now on to `stderr`, `stdout` or a file. Fails with `log_stdout`. */
export function attachLog(pi: ExtensionAPI, target: string): void {
  let sink: Sink | undefined;
  // What is lost is known only when the extension is unloaded, and its context with it.
  let ui: Ui | undefined;
  const open = (ctx: Context): void => {
    ({ ui } = ctx);
    sink ??= openSink(pi, target, { cwd: ctx.cwd, tell: (message) => ui?.notify(message, "error") });
  };
  const log = new StepLog({
    mask: createMask(pi.service("credentials")?.names() ?? []),
    activeTools: () => pi.getActiveTools(),
    write: (line) => sink?.write(line),
  });

  pi.on("agent_start", (event, ctx) => {
    open(ctx);
    log.startRun(event, ctx);
  });
  pi.on("turn_start", (event) => log.startTurn(event));
  pi.on("provider_call", (request, next, ctx) => {
    open(ctx);
    return log.watchCall(request, next, ctx);
  });
  pi.on("tool_execution_start", (event) => log.startTool(event));
  pi.on("tool_execution_end", (event) => log.endTool(event));
  pi.on("agent_end", (event) => log.endLoop(event));
  pi.on("agent_settled", (event) => log.endRun(event));
  pi.onDispose(async () => {
    const dropped = (await sink?.close()) ?? 0;
    if (dropped > 0) ui?.notify(`The step log ${target} lacks ${dropped} lines that could not be written.`, "warning");
  });
}

/** Fails with `log_stdout` where standard output carries something else. */
export function assertMode(pi: ExtensionAPI, target: string, mode: string): void {
  if (target !== "stdout" || mode === "print" || mode === "sdk") return;
  throw pi.error("log_stdout", `--log stdout cannot be used here: standard output belongs to the mode ${mode}.`, {
    hint: "Log to stderr or to a file, or use -p.",
  });
}

function openSink(pi: ExtensionAPI, target: string, at: { cwd: string; tell(message: string): void }): Sink {
  if (target === "stdout") return streamSink(pi.service("stdout") ?? process.stdout);
  if (target === "stderr") return streamSink(process.stderr);
  return fileSink(logPath(target, at.cwd), (error) => at.tell(unwritable(target, error)));
}

function unwritable(target: string, error: Error): string {
  return `The step log cannot be written to ${target}: ${error.message}. The run goes on without it. Choose another file with --log.`;
}
