import { styleText } from "node:util";
import type { Agent, CliIo, JsonObject, ToolResult, Undo } from "@pi-agent/kernel";

type Style = Parameters<typeof styleText>[0];

// One line of a terminal, less the indentation.
const MAX_CHARS = 92;

/** Prints lines and streamed text; styled only where the output is a terminal that wants it. */
export interface Screen {
  line(text?: string, style?: Style): void;
  /** Goes on with the text that is open, or begins one. */
  text(delta: string, style?: Style): void;
  /** Ends the text that is open. */
  endText(): void;
}

export function createScreen({ stdout }: Pick<CliIo, "stdout">): Screen {
  let isOpen = false;
  const paint = (text: string, style: Style | undefined) =>
    style ? styleText(style, text, { stream: stdout, validateStream: true }) : text;
  const endText = () => {
    if (isOpen) stdout.write("\n");
    isOpen = false;
  };
  return {
    line(text = "", style) {
      endText();
      stdout.write(`${paint(text, style)}\n`);
    },
    text(delta, style) {
      stdout.write(paint(`${isOpen ? "" : "  "}${delta.replaceAll("\n", "\n  ")}`, style));
      isOpen = true;
    },
    endText,
  };
}

/** Shows a run as it happens: what the model says, what it calls, and in short what comes of it. */
export function showRun(agent: Agent, screen: Screen): Undo {
  const calls = new Map<string, string>();
  const undos = [
    agent.on("turn_start", ({ turnIndex }) => {
      screen.line();
      screen.line(`Turn ${turnIndex + 1}`, "bold");
    }),
    agent.on("message_update", ({ assistantMessageEvent: event }) => {
      if (event.type === "thinking_delta") screen.text(event.delta, ["dim", "italic"]);
      else if (event.type === "text_delta") screen.text(event.delta);
      else if (event.type === "thinking_end" || event.type === "text_end") screen.endText();
    }),
    agent.on("tool_execution_start", ({ toolCallId, toolName, args }) => {
      calls.set(toolCallId, summarizeArguments(args));
      screen.line(`  > ${toolName} ${calls.get(toolCallId)}`, "cyan");
    }),
    agent.on("tool_execution_end", ({ toolCallId, toolName, result, isError }) => {
      const outcome = summarizeResult(toolName, result);
      screen.line(`    ${calls.get(toolCallId)}: ${outcome}`, isError ? "red" : "green");
    }),
  ];
  return () => undos.forEach((undo) => void undo());
}

/** Prints a unified diff. */
export function showDiff(diff: string, screen: Screen): void {
  for (const line of diff.split("\n")) {
    const isHead = /^(?:---|\+\+\+|@@)/.test(line);
    const isChange = !isHead && /^[-+]/.test(line);
    screen.line(`  ${line}`, isChange ? (line.startsWith("+") ? "green" : "red") : "dim");
  }
}

function summarizeArguments({ command, path }: JsonObject): string {
  const shown = command ?? path;
  return cut(typeof shown === "string" ? shown : "");
}

function summarizeResult(toolName: string, { content }: ToolResult): string {
  const text = content.map((block) => (block.type === "text" ? block.text : "(an image)")).join("\n");
  const lines = text.trimEnd().split("\n");
  if (toolName === "read") return `${lines.length} lines`;
  const counts = lines.flatMap((line) => /^\W*((?:pass|fail) \d+)$/.exec(line)?.[1] ?? []);
  if (counts.length > 0) return counts.join(", ");
  const more = lines.length > 1 ? ` (1 of ${lines.length} lines)` : "";
  return cut(lines.find((line) => line.trim() !== "") ?? "(nothing)") + more;
}

function cut(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS - 1)}…` : text;
}
