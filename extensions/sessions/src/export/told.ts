/** What an entry says, in the words of a list. */
import type { Entry, UserContent } from "@pi-agent/kernel";
import { oneLine } from "../one-line.ts";
import { inOneLine } from "../peek.ts";

export interface Told {
  /** Who speaks, or what happened. */
  who: string;
  /** In one line; empty where there is nothing to say. */
  text: string;
  /** A list leaves it out unless all is asked for. */
  isMinor: boolean;
}

type Said = Entry<"message">["message"];

const QUOTE_CHARS = 60;

/** Tells an entry in one line. */
export function tellEntry(entry: Entry): Told {
  const { who, text, isMinor } = tellAny(entry);
  return { who: oneLine(who), text: oneLine(text), isMinor };
}

function tellAny(entry: Entry): Told {
  switch (entry.type) {
    case "message":
      return tellMessage(entry.message);
    case "custom_message":
      return { who: entry.customType, text: inOneLine(entry.content), isMinor: !entry.display };
    case "compaction":
      return { who: "compacted", text: gist(entry.summary), isMinor: false };
    case "branch_summary":
      return { who: "summary of a branch", text: gist(entry.summary), isMinor: false };
    case "model_change":
      return minor("model", `${entry.provider}/${entry.modelId}`);
    case "thinking_level_change":
      return minor("thinking", entry.thinkingLevel);
    case "label":
      return minor("label", entry.label ?? "taken away");
    case "session_info":
      return minor("name", entry.name);
    case "context_edit":
      return minor("edit", entry.replacement ? "content replaced" : "left out of what the model sees");
    case "custom":
      return minor(entry.customType, "");
    default:
      return minor(entry.type, "");
  }
}

/** The text that a person said, to be said again; `undefined` for what nobody said. */
export function textToOffer(entry: Entry): string | undefined {
  if (entry.type === "custom_message") return wholeText(entry.content);
  return entry.type === "message" && entry.message.role === "user" ? wholeText(entry.message.content) : undefined;
}

/** The beginning of what an entry says, in quotes; where it says nothing, what it is. */
export function quote(entry: Entry): string {
  const { who, text } = tellEntry(entry);
  if (text === "") return who;
  return JSON.stringify(text.length > QUOTE_CHARS ? `${text.slice(0, QUOTE_CHARS - 1)}…` : text);
}

/** All text of a content. */
function wholeText(content: UserContent): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** What a summary is about: what stands under its heading Goal, else what follows its introduction. */
function gist(summary: string): string {
  const goal = /^#+ Goal\s*\n+(.+)/m.exec(summary)?.[1];
  return inOneLine(goal ?? summary.replace(/^[^\n]*\n?[^\n]*:\n\n/, ""));
}

function tellMessage(message: Said): Told {
  switch (message.role) {
    case "user":
      return { who: "you", text: inOneLine(message.content) || "(an image)", isMinor: false };
    case "assistant":
      return tellAnswer(message);
    case "toolResult": {
      const failed = message.isError ? "failed: " : "";
      return minor(`result of ${message.toolName}`, `${failed}${inOneLine(message.content)}`);
    }
    case "bashExecution":
      return { who: "!", text: inOneLine(message.command), isMinor: false };
    case "system":
      return minor("system", inOneLine(message.content));
    default:
      return minor(message.role, inOneLine((message as { content?: unknown }).content));
  }
}

function tellAnswer({ content, stopReason, errorMessage }: Extract<Said, { role: "assistant" }>): Told {
  const text = inOneLine(content);
  const calls = content.flatMap((block) => (block.type === "toolCall" ? [block.name] : []));
  if (stopReason === "error") return { who: "pi", text: `failed: ${inOneLine(errorMessage)}`, isMinor: false };
  if (stopReason === "aborted") return { who: "pi", text: `${text} (stopped)`.trim(), isMinor: false };
  if (text !== "") return { who: "pi", text, isMinor: false };
  return minor("pi", calls.length > 0 ? `calls ${calls.join(", ")}` : "(nothing)");
}

function minor(who: string, text: string): Told {
  return { who, text, isMinor: true };
}
