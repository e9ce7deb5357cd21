/** The words of the base prompt, and how lists become sections. Same input, same text: providers cache the prompt. */

/** What a prompt needs to know of a tool that is on. */
export interface ActiveTool {
  name: string;
  promptSnippet?: string;
  promptGuidelines?: readonly string[];
}

export const PREAMBLE = `You are a software agent. You work for a person in their terminal, through pi-agent, with the tools you are given.
Do what they ask for. Look at what is there before you change it, check that what you changed works, and say plainly what you did and what is still open.`;

const SHELLS = ["bash", "powershell"];
const SEARCH_TOOLS = ["grep", "find", "ls"];
const CLOSING_RULES = ["Be concise.", "Name files by their paths, so that the person finds them."];

/** Lists the tools that have a line for it. */
export function listTools(tools: readonly ActiveTool[]): string {
  const lines = tools.flatMap(({ name, promptSnippet }) => (promptSnippet ? `- ${name}: ${promptSnippet}` : []));
  if (lines.length === 0) return "";
  const others = lines.length < tools.length ? ["Further tools are described with the request."] : [];
  return ["These tools are on:", ...lines, ...others].join("\n");
}

/** Lists what the tools that are on ask for, each rule once. */
export function listRules(tools: readonly ActiveTool[]): string {
  const names = new Set(tools.map(({ name }) => name));
  const shell = SHELLS.find((name) => names.has(name));
  const searches = SEARCH_TOOLS.some((name) => names.has(name));
  const shellRule = shell && !searches ? [`Use ${shell} to list and to search files.`] : [];
  const guidelines = tools.flatMap(({ promptGuidelines = [] }) => promptGuidelines.map((rule) => rule.trim()));
  const rules = new Set([...shellRule, ...guidelines, ...CLOSING_RULES]);
  rules.delete("");
  return Array.from(rules, (rule) => `- ${rule}`).join("\n");
}

/** Says where pi-agent's documentation is. */
export function describeDocs(folder: string): string {
  return `pi-agent's own documentation is in ${folder}: read it only when the person asks about pi-agent itself, its extensions, skills, packages, trust or settings.`;
}

/** Puts each context file into a tag with its path. */
export function wrapContextFiles(files: readonly { path: string; text: string }[]): string {
  if (files.length === 0) return "";
  const wrapped = files.map(
    ({ path, text }) =>
      `<project_instructions path="${escapeAttribute(path)}">\n${text.trim()}\n</project_instructions>`,
  );
  return ["Instructions that were left for you in files:", ...wrapped].join("\n\n");
}

/** Says where and when; the date is that of the person's clock, and changes once a day. */
export function describePlace(cwd: string, now: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const date = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  return `Current date: ${date}\nCurrent working directory: ${cwd.replaceAll("\\", "/")}`;
}

function escapeAttribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
