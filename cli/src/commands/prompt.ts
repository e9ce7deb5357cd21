/** `pi prompt [--json | --text]`: what the next run would send before the conversation, part by part, with its price. */
import type { Agent, Owner, PromptSection } from "@pi-agent/kernel";
import { EXIT_CODES } from "../exit-codes.ts";
import { reportFaults } from "../report-faults.ts";
import { reportProblems } from "../report-load.ts";
import { formatTable } from "../table.ts";
import { toTerminalText } from "../terminal-text.ts";
import type { BuiltInIo } from "./built-in.ts";
import { refuseArguments } from "./refuse-arguments.ts";

// The kernel's own estimate of a text.
const CHARS_PER_TOKEN = 4;

interface ToolPrice {
  name: string;
  owner: Owner;
  estimatedTokens: number;
}

/** Prints each section and tool with where it comes from and its tokens, or the text alone; answers the exit code. */
export async function showPrompt(
  args: readonly string[],
  { agent, output, report }: Pick<BuiltInIo, "agent" | "output" | "report">,
): Promise<number> {
  const [form, ...more] = args;
  if (more.length > 0 || (form !== undefined && form !== "--json" && form !== "--text"))
    return refuseArguments(["prompt", ...args], "pi prompt [--json | --text]");
  reportProblems(report);
  const stop = reportFaults(agent);
  const sections = await agent.promptSections();
  await stop();
  const tools = priceTools(agent);
  if (form === "--json") output.write(`${JSON.stringify(toData(sections, tools), null, 2)}\n`);
  else {
    const text = form === "--text" ? `${joinSections(sections)}\n` : describe(sections, tools);
    output.write(output.stream.isTTY ? toTerminalText(text) : text);
  }
  return EXIT_CODES.answered;
}

/** What each active tool costs by its description and its schema; what it says in the prompt is in the sections. */
function priceTools(agent: Agent): ToolPrice[] {
  const tools = agent.registry("tool");
  return agent.state.activeTools.flatMap((name) => {
    const tool = tools.get(name);
    if (!tool) return [];
    const { description, parameters } = tool.value;
    const schema = JSON.stringify({ name, description, parameters });
    return { name, owner: tool.owner, estimatedTokens: Math.ceil(schema.length / CHARS_PER_TOKEN) };
  });
}

/** The prompt as providers get it: each section but the preamble in a tag of its own name. */
function joinSections(sections: readonly PromptSection[]): string {
  return sections
    .map(({ name, slot, text }) => (slot === "preamble" ? text : `<${name}>\n${text}\n</${name}>`))
    .join("\n\n");
}

function toData(sections: readonly PromptSection[], tools: readonly ToolPrice[]): object {
  const estimatedTokens = { sections: sum(sections), tools: sum(tools), all: sum(sections) + sum(tools) };
  return { sections, tools, estimatedTokens };
}

function describe(sections: readonly PromptSection[], tools: readonly ToolPrice[]): string {
  const parts = sections.map(
    ({ name, slot, owner, text, estimatedTokens }) =>
      `--- ${name} · slot ${slot} · ${source(owner)} · about ${estimatedTokens} tokens\n${text}\n\n`,
  );
  const rows = tools.map(({ name, owner, estimatedTokens }) => [
    name,
    `about ${estimatedTokens} tokens`,
    source(owner),
  ]);
  const total = [
    `${count(sections, "section")}, about ${sum(sections)} tokens`,
    `${count(tools, "tool")}, about ${sum(tools)} tokens`,
    `together about ${sum(sections) + sum(tools)} tokens`,
  ];
  return [
    ...parts,
    "--- the tools that are on, beside the prompt\n",
    formatTable(rows),
    "\n",
    `--- ${total.join(" · ")}\n`,
  ].join("");
}

function count(parts: readonly unknown[], what: string): string {
  return `${parts.length} ${what}${parts.length === 1 ? "" : "s"}`;
}

function source({ name, path }: Owner): string {
  return path === undefined || path === name ? name : `${name} · ${path}`;
}

function sum(parts: readonly { estimatedTokens: number }[]): number {
  return parts.reduce((total, { estimatedTokens }) => total + estimatedTokens, 0);
}
