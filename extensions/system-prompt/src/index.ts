import type { ExtensionAPI, SectionSlot } from "@pi-agent/kernel";
import { createSections } from "./prompt.ts";

/** Writes the system prompt, or what stands in for it, as sections named after their slots. */
export default function systemPrompt(pi: ExtensionAPI): void {
  pi.registerFlag("system-prompt", {
    type: "string",
    description: "Replace the system prompt: a text, or the path of a file",
  });
  pi.registerFlag("append-system-prompt", {
    type: "string",
    multiple: true,
    description: "Add to the system prompt: a text, or the path of a file",
  });
  pi.registerFlag("no-context-files", {
    type: "boolean",
    short: "nc",
    description: "Leave out AGENTS.md, CLAUDE.md and their like",
  });
  for (const [name, text] of Object.entries(createSections(pi))) {
    pi.register("section", name, { slot: name as SectionSlot, text });
  }
}
