/** `pi sessions` and `pi export`: sessions without a conversation. */
import { resolve } from "node:path";
import type { CliIo } from "@pi-agent/kernel";
import { expandHome } from "../environment.ts";
import { exportSession } from "../export/export-session.ts";
import { readImport } from "../export/import-session.ts";
import { countSession } from "../export/statistics.ts";
import { wordExpense, wordHoldings } from "../export/words.ts";
import { oneLine } from "../one-line.ts";
import { findName } from "../said.ts";
import { sessionLine } from "./session-rows.ts";
import { findOne, type Keeper, readNamed, takeIn } from "./shelf.ts";
import { pageOf } from "./transfer.ts";

const USAGE = `Usage: pi sessions [list] [--all] [--json]
       pi sessions show SESSION [--json]
       pi sessions export SESSION [FILE]
       pi sessions import FILE
       pi sessions delete SESSION

SESSION is an id or the beginning of it, a part of the name, or the path of a file.

  list                   those of this folder, newest first; --all: of all folders
  show                   its file, what it holds, what it took
  export                 a page, or with FILE.jsonl its branch; also: pi export
  import                 takes a file in among yours; it keeps its id
  delete                 for good
      --json             the same as data
`;

interface Request {
  words: string[];
  switches: ReadonlySet<string>;
}

interface Verb {
  least: number;
  most: number;
  switches: string[];
  run(keeper: Keeper, request: Request, io: CliIo): Promise<number>;
}

const SWITCHES = ["--all", "--json"];
const VERBS: Readonly<Record<string, Verb>> = {
  list: { least: 0, most: 0, switches: ["--all", "--json"], run: list },
  show: { least: 1, most: 1, switches: ["--json"], run: show },
  export: { least: 1, most: 2, switches: [], run: exportNamed },
  import: { least: 1, most: 1, switches: [], run: importNamed },
  delete: { least: 1, most: 1, switches: [], run: deleteNamed },
};
const FAILED = 1;
const WRONG_USAGE = 2;

/** Runs `pi sessions`; answers the exit code. */
export async function runSessions(keeper: Keeper, args: readonly string[], io: CliIo): Promise<number> {
  const switches = new Set(args.filter((arg) => SWITCHES.includes(arg)));
  const [name = "list", ...words] = args.filter((arg) => !switches.has(arg) && arg !== "--");
  if (name === "help") {
    io.stdout.write(USAGE);
    return 0;
  }
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  const why = verb ? judge(verb, { name, words, switches }) : `there is no ${name}`;
  if (!verb || why !== undefined) {
    return fail(io, { what: "pi sessions cannot do that", why, hint: "pi sessions help", code: WRONG_USAGE });
  }
  try {
    return await verb.run(keeper, { words, switches }, io);
  } catch (thrown) {
    if (!(thrown instanceof Error) || !("hint" in thrown)) throw thrown;
    return fail(io, { what: thrown.message, hint: String(thrown.hint), code: FAILED });
  }
}

function judge(
  { least, most, switches: known }: Verb,
  { name, words, switches }: Request & { name: string },
): string | undefined {
  const strange = [...words.filter((word) => /^-./.test(word)), ...switches].find((each) => !known.includes(each));
  if (strange !== undefined) return `${name} has no ${strange}`;
  if (words.length < least) return `${name} takes ${words.length === 0 ? "a session or a file" : "more words"}`;
  return words.length > most ? `${name} takes no more words than ${most}` : undefined;
}

async function list(keeper: Keeper, { switches }: Request, { stdout, cwd }: CliIo): Promise<number> {
  const sessions = await keeper.list(switches.has("--all") ? undefined : cwd);
  if (switches.has("--json")) stdout.write(`${JSON.stringify(sessions, undefined, 2)}\n`);
  else if (sessions.length > 0) {
    stdout.write(sessions.map((info) => `${safe(sessionLine(info, { folder: switches.has("--all") }))}\n`).join(""));
  } else
    stdout.write(`There are no sessions${switches.has("--all") ? "" : " of this folder; --all lists those of all"}.\n`);
  return 0;
}

async function show(keeper: Keeper, { words, switches }: Request, { stdout, cwd }: CliIo): Promise<number> {
  const { header, entries, file, problems } = await readNamed(keeper, words[0]!, cwd);
  const counts = countSession(entries);
  const name = findName(entries);
  if (switches.has("--json")) {
    stdout.write(`${JSON.stringify({ ...header, file, name, statistics: counts, problems }, undefined, 2)}\n`);
    return 0;
  }
  const facts: [string, string | undefined][] = [
    ["name", name],
    ["id", header.id],
    ["file", file],
    ["folder", header.cwd],
    ["begun", header.timestamp],
    ["from", header.parentSession],
    ["holds", wordHoldings(counts)],
    ["took", wordExpense(counts)],
    ["damage", problems.length > 0 ? `${problems.length} problems, mended while it was read` : undefined],
  ];
  stdout.write(facts.flatMap(([what, fact]) => (fact ? [`${what.padEnd(8)} ${safe(oneLine(fact))}\n`] : [])).join(""));
  return 0;
}

async function exportNamed(keeper: Keeper, { words }: Request, { stdout, cwd }: CliIo): Promise<number> {
  const [reference = "", to] = words;
  const session = await readNamed(keeper, reference, cwd);
  const path = await exportSession(pageOf(session), { to, folder: cwd, sources: [session.file] });
  stdout.write(`${safe(path)}\n`);
  return 0;
}

async function importNamed(keeper: Keeper, { words }: Request, { stdout, cwd }: CliIo): Promise<number> {
  const session = readImport(resolve(cwd, expandHome(words[0]!)));
  stdout.write(`${safe(await takeIn(keeper, session, cwd))}\n`);
  return 0;
}

async function deleteNamed(keeper: Keeper, { words }: Request, { stdout, cwd }: CliIo): Promise<number> {
  const { id } = await findOne(keeper, words[0]!, cwd);
  await keeper.remove(id);
  stdout.write(`deleted ${safe(oneLine(id))}\n`);
  return 0;
}

function fail(
  { stderr }: CliIo,
  { what, why, hint, code }: { what: string; why?: string; hint: string; code: number },
): number {
  stderr.write(safe(`error: ${what}\n${why ? `  why: ${why}\n` : ""}  try: ${hint}\n`));
  return code;
}

/** What others named may hold anything: nothing of it moves, turns or hides what a terminal shows. */
function safe(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");
}
