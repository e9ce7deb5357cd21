/** Words what an agent does, one line a step, for a person who watches. */
import type { JsonObject, Undo } from "@pi-agent/kernel";
import type { EventSource } from "./event-source.ts";
import { paint } from "./print-error.ts";
import { toTerminalLine } from "./terminal-text.ts";

const LINE_WIDTH = 100;

/** Tells `write` one line when a tool starts, when it fails, and while a failed answer is retried. */
export function showSteps(agent: EventSource, write: (line: string) => void): Undo {
  const undos = [
    agent.on("tool_execution_start", ({ toolName, args }) => write(paint("dim", `• ${describeCall(toolName, args)}`))),
    agent.on("tool_execution_end", ({ toolName, result, isError }) => {
      if (!isError) return;
      const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join(" ");
      write(paint("yellow", `! ${toTerminalLine(`${toolName} failed: ${text}`, LINE_WIDTH)}`));
    }),
    agent.on("auto_retry_start", ({ attempt, maxAttempts, delayMs, errorMessage }) => {
      const seconds = Math.ceil(delayMs / 1_000);
      write(paint("yellow", `! ${toTerminalLine(errorMessage, LINE_WIDTH)}`));
      write(paint("dim", `• retry ${attempt} of ${maxAttempts} in ${seconds} s`));
    }),
  ];
  return async () => {
    for (const undo of undos) await undo();
  };
}

/** A call on one line: the tool, and the argument that tells most, which is its first text. */
export function describeCall(toolName: string, args: JsonObject): string {
  const told = Object.values(args).find((value) => typeof value === "string") ?? "";
  return toTerminalLine(`${toolName} ${told}`, LINE_WIDTH);
}
