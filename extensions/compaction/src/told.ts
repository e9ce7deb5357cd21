/** A conversation as text, for whoever summarises it. */
import type { Image, Json, Message, Text, ToolCall } from "@pi-agent/kernel";

/** Of a result, and of the arguments of a call, so many characters are told. */
const MAX_RESULT_CHARS = 2_000;

/** Tells each message as a part of its own. Thinking and the data of images are left out. */
export function tell(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => tellOne(message));
}

function tellOne(message: Message): string[] {
  switch (message.role) {
    case "toolResult":
      return [`[Tool result]: ${shorten(plainText(message.content)) || "(nothing)"}`];
    case "assistant": {
      const text = plainText(message.content.filter((block) => block.type === "text"));
      const calls = message.content.filter((block) => block.type === "toolCall").map(tellCall);
      return [
        ...(text.trim() === "" ? [] : [`[Assistant]: ${text}`]),
        ...(calls.length === 0 ? [] : [`[Assistant tool calls]: ${calls.join("; ")}`]),
      ];
    }
    default: {
      const text = plainText(message.content);
      return text.trim() === "" ? [] : [`[User]: ${text}`];
    }
  }
}

function plainText(content: string | readonly (Text | Image)[]): string {
  if (typeof content === "string") return content;
  const images = content.filter((block) => block.type === "image").length;
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return [...texts, ...(images > 0 ? [`(${images} ${images === 1 ? "image" : "images"}, not shown here)`] : [])].join(
    "\n",
  );
}

function tellCall({ name, arguments: args }: ToolCall): string {
  const given = Object.entries(args).map(([key, value]: [string, Json]) => `${key}=${JSON.stringify(value)}`);
  return `${name}(${shorten(given.join(", "))})`;
}

function shorten(text: string): string {
  if (text.length <= MAX_RESULT_CHARS) return text;
  const dropped = text.length - MAX_RESULT_CHARS;
  return `${text.slice(0, MAX_RESULT_CHARS).toWellFormed()}\n[… ${dropped} more characters left out]`;
}
