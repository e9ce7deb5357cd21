/**
 * Commands that the person runs.
 *
 *   run ─► user_bash ─► refused: fails
 *                     ─► a result, or runs here or elsewhere ─► message ─► appended, after the run that is going on
 */
import type { BashExecutionMessage, ExtensionAPI } from "@pi-agent/kernel";
import type { BashOptions } from "./bash.ts";
import { askUserBash } from "./user-bash.ts";
import type { UserCommandResult } from "./user-command.ts";

export interface UserCommandOptions {
  /** Where it runs. */
  cwd: string;
  /** The model is not told of it. */
  excludeFromContext?: boolean;
  /** Ends it; what came by then is the result. */
  signal?: AbortSignal;
  /** Gets the end of the output, at most every 100 ms. */
  onUpdate?: (output: string) => void;
}

export interface ShellService {
  /** Runs a command to its end. Fails with `user_bash_refused`, `no_directory`, `no_shell`, `invalid_command`, `no_process`. */
  run(command: string, options: UserCommandOptions): Promise<BashExecutionMessage>;
}

declare module "@pi-agent/kernel" {
  interface Services {
    shell: ShellService;
  }
}

/** Declares the hook `user_bash` and provides the service `shell`. */
export function registerShell(pi: ExtensionAPI, options: BashOptions): void {
  pi.declareHook("user_bash", { way: "first", onFault: "refuse" });
  const record = createRecorder(pi);
  const disposal = new AbortController();
  const running = new Set<Promise<unknown>>();
  pi.onDispose(async () => {
    disposal.abort();
    await Promise.allSettled(running);
  });

  async function run(command: string, given: UserCommandOptions): Promise<BashExecutionMessage> {
    const { cwd, excludeFromContext = false, onUpdate = () => {} } = given;
    const signal = given.signal ? AbortSignal.any([given.signal, disposal.signal]) : disposal.signal;
    const verdict = await askUserBash(pi, { command, excludeFromContext, cwd });
    let result: UserCommandResult;
    if ("result" in verdict) ({ result } = verdict);
    else {
      const { runUserCommand } = await import("./user-command.ts");
      const work = runUserCommand(command, { cwd, signal, onUpdate }, { ...options, ...verdict });
      running.add(work);
      result = await work.finally(() => running.delete(work));
    }
    const { output, exitCode, cancelled, truncated, fullOutputPath } = result;
    const message: BashExecutionMessage = {
      role: "bashExecution",
      command,
      output,
      ...(exitCode !== undefined && { exitCode }),
      cancelled,
      truncated,
      ...(fullOutputPath !== undefined && { fullOutputPath }),
      ...(excludeFromContext && { excludeFromContext }),
      timestamp: Date.now(),
    };
    record(() => void pi.append([{ type: "message", message }]));
    return message;
  }

  pi.register("service", "shell", { run } satisfies ShellService);
}

/** Appends now, or when the run that is going on has settled: within it a message would come between calls and results. */
function createRecorder(pi: ExtensionAPI): (append: () => void) => void {
  let isRunning = false;
  const waiting: (() => void)[] = [];
  pi.on("agent_start", () => {
    isRunning = true;
  });
  const settle = () => {
    isRunning = false;
    for (const append of waiting.splice(0)) append();
  };
  pi.on("agent_settled", settle);
  pi.onDispose(settle);
  return (append) => {
    if (isRunning) waiting.push(append);
    else append();
  };
}
