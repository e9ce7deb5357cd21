/**
 * A session as one page that needs nothing else: no network, no script, everything in it escaped.
 *
 *   head: what it is, what it took ──► the branch where the conversation stands ──► each other branch, linked both ways
 *
 * It is made piece by piece: what is held at a time is an entry.
 */
import type { Entry } from "@pi-agent/kernel";
import { entryBody, kindOf } from "./html-entry.ts";
import { fold, toHtml, verbatim } from "./html-text.ts";
import { type Section, sectionsOf } from "./sections.ts";
import { countSession, type Statistics } from "./statistics.ts";
import { STYLE } from "./style.ts";
import { tellEntry } from "./told.ts";
import { everyEntry, labelsOf, placeIn, type Tree } from "./tree.ts";
import { wordExpense, wordHoldings } from "./words.ts";

export interface Page {
  tree: Tree;
  id: string;
  /** Where the session was held. */
  cwd: string;
  /** ISO 8601. */
  created: string;
  name?: string;
  systemPrompt?: string;
}

// Nothing is fetched and nothing runs, whatever a browser takes for code.
const POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** Makes the page, in pieces. */
export function* htmlPage(page: Page): Generator<string> {
  const { tree, systemPrompt } = page;
  const sections = sectionsOf(tree);
  const labels = labelsOf(tree);
  const here = placeIn(tree);
  const branches = new Map<string | undefined, number[]>();
  for (const [at, { from }] of sections.entries()) {
    if (at > 0) branches.set(from?.id, [...(branches.get(from?.id) ?? []), at]);
  }
  yield* head(page, countSession(everyEntry(tree)));
  if (systemPrompt) yield fold("system prompt", verbatim(systemPrompt));
  yield links(branches.get(undefined), sections);
  for (const [at, section] of sections.entries()) {
    if (at > 0) yield branchHeading(at, section);
    for (const entry of section.entries) {
      const ways = branches.get(entry.id);
      const label = labels.get(entry.id)?.label;
      yield article(entry, { label, isHere: entry === here });
      yield links(ways, sections);
    }
  }
  yield "</body></html>\n";
}

function* head({ id, cwd, created, name }: Page, counts: Statistics): Generator<string> {
  const heading = toHtml(name ?? `Session ${id}`);
  yield `<!doctype html>\n<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer"><title>${heading}</title>
<style>${STYLE}</style></head><body>\n<h1>${heading}</h1>\n`;
  const facts = [
    ["session", id],
    ["folder", cwd],
    ["begun", created],
    ["holds", wordHoldings(counts)],
    ["took", wordExpense(counts)],
  ];
  yield `<dl>${facts.map(([what, fact]) => `<dt>${what}</dt><dd>${toHtml(fact!)}</dd>`).join("")}</dl>\n`;
}

function branchHeading(at: number, { from, entries }: Section): string {
  const way = from ? ` <a href="#from-${at}" title="where it begins">from: ${title(from)}</a>` : "";
  return `<h2 id="branch-${at}">Another branch, ${entries.length} entries${way}</h2>\n`;
}

/** Where other branches leave an entry; each link leads to its section, and can be come back to. */
function links(ways: readonly number[] | undefined, sections: readonly Section[]): string {
  if (!ways) return "";
  const each = ways.map((at) => {
    const first = sections[at]!.entries.find((entry) => !tellEntry(entry).isMinor) ?? sections[at]!.entries[0]!;
    return `<div class="branches" id="from-${at}">Another branch: <a href="#branch-${at}">${title(first)}</a></div>\n`;
  });
  return each.join("");
}

function title(entry: Entry): string {
  const { who, text } = tellEntry(entry);
  return toHtml(`${who}: ${text}`.slice(0, 120));
}

function article(entry: Entry, { label, isHere }: { label?: string; isHere: boolean }): string {
  const { who } = tellEntry(entry);
  const marks = [
    toHtml(who),
    `<time>${toHtml(entry.timestamp)}</time>`,
    label === undefined ? "" : `<span class="label">${toHtml(label)}</span>`,
    isHere ? '<span class="here">the conversation stands here</span>' : "",
  ];
  return `<article class="${kindOf(entry)}"><header>${marks.join(" ")}</header>${entryBody(entry)}</article>\n`;
}
