/** Writes a session to a file for people, as HTML, or for programs, as JSON lines. */
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { basename, resolve } from "node:path";
import { expandHome } from "../environment.ts";
import { isNameable } from "../location.ts";
import { sessionError } from "../problems.ts";
import { htmlPage, type Page } from "./html.ts";
import { branchLines } from "./jsonl.ts";
import { writeWhole } from "./write-file.ts";

export interface ExportOptions {
  /** Where it goes; `.jsonl` writes the branch, all else the whole session as a page. Left out: a page in `folder`. */
  to?: string;
  /** What a relative path begins at. */
  folder: string;
  /** The files of the session, which are never written over. */
  sources: readonly (string | undefined)[];
  env?: Readonly<Record<string, string | undefined>>;
}

/** Writes a session to a file and answers its path. Fails with `export_failed`; then nothing is changed. */
export async function exportSession(page: Page, { to, folder, sources, env }: ExportOptions): Promise<string> {
  if (to === "-") throw refusal("Nothing was written: an export is a file, and - names none.");
  const path = resolve(folder, expandHome(to ?? defaultName(page, sources[0]), env));
  if (sources.some((source) => source !== undefined && isSame(source, path))) {
    throw refusal(`${path} was not written: it is the session itself.`);
  }
  if (path.toLowerCase().endsWith(".jsonl")) await writeWhole(path, branchLines(page.tree, page));
  else await writeWhole(path, htmlPage(page), { mayReplace: isOlderPage(path) });
  return path;
}

/** Only a page is written anew: what else is there is somebody's. */
function isOlderPage(path: string): boolean {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (!there) return false;
  if (!there.isFile()) throw refusal(`${path} was not written: it is there already, and is no regular file.`);
  if (/\.html?$/i.test(path)) return true;
  throw refusal(`${path} was not written: it is there already, and its name is not that of a page.`);
}

function refusal(what: string): Error {
  return sessionError("export_failed", what, "Give the name of another file, one that ends in .html.");
}

function defaultName({ id }: Page, source: string | undefined): string {
  const known = source === undefined ? (isNameable(id) ? id : "session") : basename(source).replace(/\.jsonl$/i, "");
  return `pi-session-${known}.html`;
}

function isSame(one: string, other: string): boolean {
  return one === other || (existsSync(one) && existsSync(other) && realpathSync(one) === realpathSync(other));
}
