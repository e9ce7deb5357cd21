/** The packages of the default agent, in load order. */
import agents from "@pi-agent/agents";
import anthropic from "@pi-agent/anthropic";
import cassette from "@pi-agent/cassette";
import compaction from "@pi-agent/compaction";
import gemini from "@pi-agent/gemini";
import type { Extension, ExtensionEntry } from "@pi-agent/kernel";
import openai from "@pi-agent/openai";
import retry from "@pi-agent/retry";
import sessions from "@pi-agent/sessions";
import stepLog from "@pi-agent/step-log";
import systemPrompt from "@pi-agent/system-prompt";
import tools from "@pi-agent/tools";

export const DEFAULT_PACKAGES: readonly ExtensionEntry[] = [
  official("@pi-agent/tools", tools),
  official("@pi-agent/anthropic", anthropic),
  official("@pi-agent/gemini", gemini),
  official("@pi-agent/openai", openai),
  official("@pi-agent/sessions", sessions),
  official("@pi-agent/system-prompt", systemPrompt),
  official("@pi-agent/compaction", compaction),
  official("@pi-agent/retry", retry),
  official("@pi-agent/step-log", stepLog),
  official("@pi-agent/cassette", cassette),
  official("@pi-agent/agents", agents),
];

function official(name: string, extension: Extension): ExtensionEntry {
  return { extension, owner: { name, scope: "official" } };
}
