import type { Entry, SystemMessage, ToolSchema } from "@pi-agent/kernel";

/** The prompt and the tools that a branch was told of, in one message: what Pi continues from after a compaction. */
export function systemRecord(path: readonly Entry[]): SystemMessage | undefined {
  const sections = new Map<string, string>();
  const tools = new Map<string, ToolSchema>();
  const contents: string[] = [];
  for (const entry of path) {
    const message = systemMessageIn(entry);
    if (!message) continue;
    // A compaction has all that came before it.
    if (entry.type === "compaction") for (const each of [sections, tools]) each.clear();
    if (entry.type === "compaction") contents.length = 0;
    // Pi also writes lists of texts.
    contents.push(...[message.content].flat().filter((text) => text !== ""));
    for (const [name, text] of Object.entries(message.sections ?? {})) {
      if (text === null) sections.delete(name);
      else sections.set(name, text);
    }
    for (const { name } of message.toolsRemoved ?? []) tools.delete(name);
    for (const tool of message.toolsAdded ?? []) tools.set(tool.name, tool);
  }
  if (contents.length === 0 && sections.size === 0 && tools.size === 0) return undefined;
  return {
    role: "system",
    content: contents.join("\n\n"),
    ...(sections.size > 0 && { sections: Object.fromEntries(sections) }),
    ...(tools.size > 0 && { toolsAdded: [...tools.values()] }),
    timestamp: Date.now(),
  };
}

function systemMessageIn(entry: Entry): SystemMessage | undefined {
  if (entry.type === "compaction") return entry.systemMessage;
  return entry.type === "message" && entry.message.role === "system" ? entry.message : undefined;
}
