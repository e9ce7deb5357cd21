/** `pi prompt`: the system prompt as the next run would send it, section by section. */
import type { Agent } from "@pi-agent/kernel";
import { EXIT_CODES } from "../exit-codes.ts";
import type { Output } from "../stdout-guard.ts";
import { toTerminalText } from "../terminal-text.ts";

/** Prints each section with its slot, its owner and its tokens; answers the exit code. */
export async function showPrompt(agent: Agent, output: Output): Promise<number> {
  const sections = await agent.promptSections();
  const write = (text: string) => output.write(output.stream.isTTY ? toTerminalText(text) : text);
  let total = 0;
  for (const { name, slot, owner, text, estimatedTokens } of sections) {
    total += estimatedTokens;
    write(`--- ${name} · slot ${slot} · ${owner.name} · about ${estimatedTokens} tokens\n${text}\n\n`);
  }
  write(`--- ${sections.length} sections · about ${total} tokens\n`);
  return EXIT_CODES.answered;
}
