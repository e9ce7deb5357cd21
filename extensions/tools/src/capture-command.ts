import type { BashOptions, BashSettings } from "./bash.ts";
import { CommandOutput, type FinalOutput } from "./command-output.ts";
import { expandPath } from "./paths.ts";
import { throwIfAborted } from "./result.ts";
import { type CommandExit, runCommand } from "./run-command.ts";
import { type ShellSession, shellEnvironment } from "./shell-environment.ts";
import type { TextLimits } from "./truncate.ts";

export interface CaptureRequest {
  cwd: string;
  settings: BashSettings;
  /** What the command is told of where it runs. */
  session: ShellSession;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Gets the end of the output, now and then. */
  onUpdate: (text: string) => void;
}

export interface CapturedCommand {
  exit: CommandExit;
  output: FinalOutput;
}

/** Runs a command with the shell, the prefix and the environment of the settings. Fails as `runCommand` does. */
export async function captureCommand(
  command: string,
  request: CaptureRequest,
  options: BashOptions & Required<TextLimits>,
): Promise<CapturedCommand> {
  const { cwd, session, timeoutMs, signal, onUpdate } = request;
  const { shellPath, commandPrefix } = request.settings;
  const mark = crypto.randomUUID();
  const env = shellEnvironment(process.env, { secretNames: options.secretNames?.() ?? [], session, mark });
  const { maxLines, maxBytes, outputDirectory: directory } = options;
  const output = new CommandOutput({ maxLines, maxBytes, directory }, onUpdate);
  const run = options.operations?.run.bind(options.operations) ?? runCommand;
  try {
    throwIfAborted(signal);
    const exit = await run(commandPrefix ? `${commandPrefix}\n${command}` : command, {
      cwd,
      env,
      mark,
      shell: shellPath?.startsWith("~/") ? expandPath(shellPath, cwd) : shellPath,
      findProgram: options.findProgram,
      timeoutMs,
      signal,
      onOutput: (bytes, stream) => output.push(bytes, stream),
      onLeft: (root) => options.leftRunning?.add(root),
    });
    return { exit, output: output.end() };
  } finally {
    output.end();
  }
}

/** Says what the shell left behind; empty where it left nothing. */
export function leftoverNotes({ background, survivors }: CommandExit): string[] {
  const notes: string[] = [];
  if (background.length > 0) {
    const pids = background.map(({ pid }) => pid).join(" ");
    const ends = "Its output is not followed, and it ends with this session.";
    notes.push(`[Still running in the background: ${listProcesses(background)}. ${ends} To stop it: kill ${pids}]`);
  }
  if (survivors.length > 0) notes.push(`[Could not be ended: ${listProcesses(survivors)}]`);
  return notes;
}

function listProcesses(processes: CommandExit["background"]): string {
  return processes.map(({ pid, name }) => `${pid} (${name})`).join(", ");
}
