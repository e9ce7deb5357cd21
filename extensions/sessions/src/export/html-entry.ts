/** An entry of a session, as part of a page. */
import type { Entry, Image, JsonObject, UserContent } from "@pi-agent/kernel";
import { inOneLine } from "../peek.ts";
import { fold, textBlock, toHtml, verbatim } from "./html-text.ts";
import { tellEntry } from "./told.ts";

type Said = Entry<"message">["message"];
type Block = Exclude<UserContent, string>[number] | Extract<Said, { role: "assistant" }>["content"][number];

// What every browser shows, and none runs code of.
const PICTURES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;
const TITLE_CHARS = 120;

/** Makes the markup of an entry, without the frame around it. */
export function entryBody(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return messageBody(entry.message);
    case "custom_message":
      return contentBody(entry.content);
    case "compaction":
    case "branch_summary":
      return fold(inOneLine(entry.summary).slice(0, TITLE_CHARS), textBlock(entry.summary), "summary");
    default:
      return `<div class="text">${toHtml(tellEntry(entry).text)}</div>`;
  }
}

/** The class of the frame around an entry. */
export function kindOf(entry: Entry): string {
  if (entry.type === "message") {
    const { role } = entry.message;
    return ["user", "assistant", "toolResult", "bashExecution"].includes(role) ? role : "aside";
  }
  if (entry.type === "compaction" || entry.type === "branch_summary") return "summarised";
  return entry.type === "custom_message" ? "custom" : "aside";
}

function messageBody(message: Said): string {
  switch (message.role) {
    case "assistant": {
      const error = message.errorMessage ? `<div class="error">${toHtml(message.errorMessage)}</div>` : "";
      return `${contentBody(message.content)}${error}`;
    }
    case "toolResult": {
      const title = `${message.isError ? "failed" : "result"} of ${message.toolName}`;
      return fold(title, message.content.map(resultBlock).join("\n"), message.isError ? "error" : "");
    }
    case "bashExecution": {
      const { command, output, exitCode } = message;
      return fold(`$ ${command}${exitCode ? ` (exit code ${exitCode})` : ""}`, verbatim(output));
    }
    case "system":
      return fold("system prompt", verbatim(message.content));
    default:
      return contentBody((message as { content?: UserContent }).content ?? "");
  }
}

function contentBody(content: string | readonly Block[]): string {
  return typeof content === "string" ? textBlock(content) : content.map(blockBody).join("\n");
}

function blockBody(block: Block): string {
  switch (block.type) {
    case "text":
      return textBlock(block.text);
    case "thinking":
      return block.thinking === "" ? "" : fold("thinking", textBlock(block.thinking), "thinking");
    case "image":
      return picture(block);
    case "toolCall":
      return fold(
        callTitle(block.name, block.arguments),
        verbatim(JSON.stringify(block.arguments, undefined, 2) ?? ""),
      );
    default:
      return `<div class="text">(${toHtml(String((block as { type?: unknown }).type))})</div>`;
  }
}

function resultBlock(block: Block): string {
  return block.type === "text" ? verbatim(block.text) : blockBody(block);
}

/** The tool, and the argument that tells most, which is its first text. */
function callTitle(name: string, args: JsonObject | undefined): string {
  const told = Object.values(args ?? {}).find((value) => typeof value === "string") ?? "";
  return `${name} ${inOneLine(told)}`.trim().slice(0, TITLE_CHARS);
}

function picture({ data, mimeType }: Image): string {
  if (!PICTURES.has(mimeType) || !BASE64.test(data)) return `<div class="text">(an image: ${toHtml(mimeType)})</div>`;
  return `<img alt="" src="data:${mimeType};base64,${data.replaceAll(/\s/g, "")}">`;
}
