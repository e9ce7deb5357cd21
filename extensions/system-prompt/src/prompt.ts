import type { Context, ExtensionAPI } from "@pi-agent/kernel";
import { findDocs, readTextOrFile, textsOf } from "./sources.ts";
import {
  type ActiveTool,
  describeDocs,
  describePlace,
  listRules,
  listTools,
  PREAMBLE,
  wrapContextFiles,
} from "./texts.ts";

type SectionName = "preamble" | "tools" | "rules" | "docs" | "addendum" | "project_context" | "cwd";

/** Makes the sections: functions, so that they follow tools, flags and resources from run to run. */
export function createSections(pi: ExtensionAPI): Record<SectionName, (ctx: Context) => string> {
  const typed = createFlagReader(pi);
  const list = (kind: string) => textsOf(pi.service("resources")?.list(kind) ?? []);
  const replacement = (ctx: Context) => typed("system-prompt", ctx).at(-1) ?? list("system-prompt")[0]?.text;
  const unlessReplaced = (text: () => string) => (ctx: Context) => (replacement(ctx) === undefined ? text() : "");
  let docs: string | undefined;
  return {
    preamble: (ctx) => replacement(ctx) ?? PREAMBLE,
    tools: unlessReplaced(() => listTools(activeTools(pi))),
    rules: unlessReplaced(() => listRules(activeTools(pi))),
    docs: unlessReplaced(() => (docs ??= docsText())),
    addendum(ctx) {
      // The list has the project's file first; in the prompt what is nearer comes later.
      const files = list("append-system-prompt").reverse();
      return [...files.map(({ text }) => text.trim()), ...typed("append-system-prompt", ctx)].join("\n\n");
    },
    project_context: () => (pi.getFlag("no-context-files") === true ? "" : wrapContextFiles(list("context-file"))),
    cwd: (ctx) => describePlace(ctx.cwd, new Date()),
  };
}

/** Answers the texts that a flag gives, each file read once, so that the prompt stays the same while a session lasts. */
function createFlagReader(pi: ExtensionAPI): (name: string, ctx: Context) => string[] {
  const known = new Map<string, string>();
  return (name, ctx) => {
    const value = pi.getFlag(name);
    const values = typeof value === "string" ? [value] : Array.isArray(value) ? value : [];
    const texts = values.map((each) => {
      const text = known.get(each) ?? readFlag(pi, { name, value: each, cwd: ctx.cwd });
      known.set(each, text);
      return text;
    });
    return texts.filter((text) => text !== "");
  };
}

function readFlag(pi: ExtensionAPI, given: { name: string; value: string; cwd: string }): string {
  try {
    return readTextOrFile(given.value, given.cwd).trim();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw pi.error("prompt_unreadable", `The file of --${given.name} could not be read: ${why}.`, {
      hint: "Make it readable, or give the text itself.",
      cause,
    });
  }
}

function activeTools(pi: ExtensionAPI): ActiveTool[] {
  const names = new Set(pi.getActiveTools());
  return pi.getAllTools().filter(({ name }) => names.has(name));
}

function docsText(): string {
  const folder = findDocs(import.meta.dirname);
  return folder ? describeDocs(folder) : "";
}
