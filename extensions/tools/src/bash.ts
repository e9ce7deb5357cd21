import type { Tool } from "@pi-agent/kernel";
import type { LeftRunning } from "./left-running.ts";
import { DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES } from "./limits.ts";
import { attempt } from "./result.ts";
import type { CommandExit, CommandRequest } from "./run-command.ts";
import type { TextLimits } from "./truncate.ts";

/** Where `bash` runs its commands. */
export interface BashOperations {
  /** Runs a command to its end, also on abort and timeout. Fails only when it could not be started. */
  run(command: string, request: CommandRequest): Promise<CommandExit>;
}

/** What the person set for commands. */
export interface BashSettings {
  shellPath?: string;
  /** Put before every command, on a line of its own. */
  commandPrefix?: string;
  /** 0 means no limit. Left out: none with a user interface, 600 without. */
  timeoutSeconds?: number;
}

/** Functions are asked at each call. */
export interface BashOptions extends TextLimits {
  operations?: BashOperations;
  settings?(): BashSettings;
  /** Names of environment variables that hold secrets: commands do not get them. */
  secretNames?(): readonly string[];
  /** Finds programs that no project brought. Left out: bash is only looked for where it usually is. */
  findProgram?: (name: string) => string | undefined;
  /** Told to commands as `PI_SESSION_FILE`. */
  sessionFile?(): string | undefined;
  /** Told to commands as `PI_REASONING_LEVEL`. */
  reasoningLevel?(): string;
  /** Told of commands that leave something running; it is theirs who made it to end that. */
  leftRunning?: LeftRunning;
  /** For the files of long outputs. Left out: the system's directory for temporary files. */
  outputDirectory?: string;
}

const parameters = {
  type: "object",
  properties: {
    command: { type: "string", description: "The command" },
    timeout: { type: "number", description: "Seconds after which it is ended; above 0" },
  },
  required: ["command"],
} as const;

/**
 * Makes the `bash` tool. Commands run in `cwd`; left out, in the agent's working directory at the time of the call.
 * An answer that holds a command has its calls run one after the other: a command may need what the others do.
 */
export function createBashTool(cwd?: string, options: BashOptions = {}): Tool<typeof parameters> {
  const { maxLines = DEFAULT_MAX_LINES, maxBytes = DEFAULT_MAX_BYTES } = options;
  return {
    name: "bash",
    label: "bash",
    description: `Run a bash command in the working directory. Answers its output, stdout and stderr together: the last ${maxLines} lines or ${Math.floor(maxBytes / 1_024)}KB, and the name of a file with all of it when there is more. No input, no terminal, no editor.`,
    parameters,
    promptSnippet: "Execute bash commands (ls, grep, find, etc.)",
    promptGuidelines: ["In bash, PI_SESSION_ID, PI_PROVIDER, PI_MODEL and PI_REASONING_LEVEL tell about this session."],
    executionMode: "sequential",
    effect: "execute",
    execute: (_id, { command, timeout }, signal, onUpdate, ctx) =>
      attempt(signal, async () => {
        const { executeCommand } = await import("./execute-command.ts");
        const call = { command, timeout, cwd: cwd ?? ctx.cwd, signal, onUpdate, ctx };
        return executeCommand(call, { ...options, maxLines, maxBytes });
      }),
  };
}
