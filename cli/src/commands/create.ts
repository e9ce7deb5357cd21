/** `pi create extension|skill|agent <name> [folder]`: begins a package of one's own. */
import { relative, resolve } from "node:path";
import { nearestNames } from "@pi-agent/loader";
import { findNewNameFault, KINDS, type Kind, toNames } from "../create/names.ts";
import { scaffold } from "../create/scaffold.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { refuse } from "../packages/refuse.ts";
import { isProblem, readRequest, wordRefusal } from "../packages/request.ts";
import { toTerminalName } from "../terminal-text.ts";
import type { BuiltInIo } from "./built-in.ts";

const FORM = { command: "create", switches: [], mostWords: 3 };

/** Creates what was typed, and says what comes next; answers the exit code. */
export async function runCreate(
  args: readonly string[],
  { host, output }: Pick<BuiltInIo, "host" | "output">,
): Promise<number> {
  const request = readRequest(args, FORM, host.flags);
  if (isProblem(request)) return refuse(request);
  const [kind = "", name = "", typedFolder] = request.words;
  if (!isKind(kind)) return refuse(wordKind(kind));
  const fault = findNewNameFault(name, kind);
  if (fault !== undefined) return refuse(wordRefusal("create", `the name ${fault}`));
  const names = toNames(name);
  const folder = resolve(host.cwd, typedFolder || names.bare);
  const files = await scaffold(folder, kind, names);
  const shown = toTerminalName(relative(host.cwd, folder) || ".");
  const steps = [
    ...(shown === "." ? [] : [`cd ${shown}`]),
    ...(kind === "skill" ? [] : ["npm install"]),
    "npm test",
    "README.md says how to go on.",
  ];
  const note = kind === "skill" ? "" : NOT_ON_NPM;
  output.write(`Created the ${kind} ${name} in ${shown}\n${toLines(files)}\nNext:\n${toLines(steps)}${note}`);
  return EXIT_CODES.answered;
}

// To be taken out with the first release.
const NOT_ON_NPM =
  "The packages of pi-agent are not on npm yet: docs/build-your-own-agent.md says how to pack them for npm install.\n";

function isKind(word: string): word is Kind {
  return KINDS.some((kind) => kind === word);
}

function wordKind(typed: string) {
  const [nearest] = nearestNames(typed, KINDS, 1);
  const what = typed === "" ? "it takes what to create" : "it creates an extension, a skill or an agent";
  return wordRefusal("create", what, nearest === undefined ? undefined : `did you mean pi create ${nearest}?`);
}

function toLines(items: readonly string[]): string {
  return items.map((item) => `  ${item}\n`).join("");
}
