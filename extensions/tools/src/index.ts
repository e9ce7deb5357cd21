/** Seven tools that work on files and run commands, and the services `files` and `shell`. */
import type { ExtensionAPI } from "@pi-agent/kernel";
import { askGate } from "./gate.ts";
import { LeftRunning } from "./left-running.ts";
import { mutate } from "./mutation-queue.ts";
import { BASH_SETTINGS, OPTIONS, type ToolsOptions } from "./options.ts";
import { sessionOptions } from "./session-bash.ts";
import { registerShell } from "./shell-service.ts";
import { createTools } from "./table.ts";

export { type BashOperations, type BashOptions, type BashSettings, createBashTool } from "./bash.ts";
export { createEditTool, type EditOperations, type EditOptions } from "./edit.ts";
export { createFindTool, type FindOperations, type FindOptions } from "./find.ts";
export type { FindQuery, FindSearch } from "./find-search.ts";
export { createGrepTool, type GrepOperations, type GrepOptions } from "./grep.ts";
export type { GrepLine, GrepQuery, GrepSearch } from "./grep-search.ts";
export { LeftRunning } from "./left-running.ts";
export {
  DEFAULT_MAX_BYTES,
  DEFAULT_MAX_LINES,
  FIND_DEFAULT_LIMIT,
  GREP_DEFAULT_LIMIT,
  GREP_MAX_LINE_LENGTH,
  HEADLESS_TIMEOUT_SECONDS,
  LS_DEFAULT_LIMIT,
} from "./limits.ts";
export { createLsTool, type ListedEntry, type LsOperations, type LsOptions } from "./ls.ts";
export { mutate } from "./mutation-queue.ts";
export type { OpenFile } from "./open-file.ts";
export { createReadTool, type ReadOperations, type ReadOptions } from "./read.ts";
export type { CommandExit, CommandRequest } from "./run-command.ts";
export type { ShellService, UserCommandOptions } from "./shell-service.ts";
export { formatSize, truncateHead, truncateTail } from "./truncate.ts";
export type { UserCommandResult } from "./user-command.ts";
export { createWriteTool, type WriteOperations, type WriteOptions } from "./write.ts";

function tools(pi: ExtensionAPI, options: ToolsOptions = {}): void {
  const leftRunning = new LeftRunning();
  pi.onDispose(() => leftRunning.end());
  pi.register("service", "files", { mutate });
  pi.register("settings", "bash", BASH_SETTINGS);
  const bash = { ...options.bash, ...sessionOptions(pi), leftRunning };
  registerShell(pi, bash);
  for (const tool of createTools(options, bash, askGate(pi))) pi.registerTool(tool);
}

export default Object.assign(tools, { options: OPTIONS });
