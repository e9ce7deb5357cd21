/** Reads what was typed after `pi trust` or `/trust`. */
import type { TrustAnswer } from "@pi-agent/loader";
import type { Problem } from "../problem.ts";

const VERBS = ["status", "show", "diff", "yes", "text", "no", "forget", "list"] as const;
export type TrustVerb = (typeof VERBS)[number];

export interface TrustRequest {
  verb: TrustVerb;
  /** A folder, or a resource of the project. */
  target?: string;
  isJson: boolean;
  /** Whatever the folder becomes. */
  isFolder: boolean;
  /** Also for folders below. */
  isBelow: boolean;
}

const USAGE =
  "[show [PATH] [--json] | diff [PATH] | yes|text|no [PATH] [--folder] [--below] | list [--json] | forget [PATH]]";
const OPTIONS: Partial<Record<TrustVerb, readonly string[]>> = {
  show: ["--json"],
  list: ["--json"],
  yes: ["--folder", "--below"],
  text: ["--below"],
  no: ["--folder", "--below"],
};
const WITHOUT_TARGET: readonly TrustVerb[] = ["status", "list"];

/** Answers the request, or what is wrong with it. `command` is what stands before the words; after `--` all are paths. */
export function parseRequest(words: readonly string[], command: string): TrustRequest | Problem {
  const refuse = (why: string): Problem => ({
    what: `${[command, ...words].join(" ")} is not known`,
    why,
    hint: `write: ${command} ${USAGE}`,
  });
  const end = words.includes("--") ? words.indexOf("--") : words.length;
  const [typed = "status", ...others] = words.slice(0, end);
  const isOption = (word: string) => word.startsWith("--");
  const verb = isOption(typed) ? undefined : VERBS.find((each) => each === typed);
  if (!verb) return refuse(`${typed} is none of its words`);
  const wrong = others.find((word) => isOption(word) && !OPTIONS[verb]?.includes(word));
  if (wrong !== undefined) return refuse(`${verb} does not take ${wrong}`);
  const [target, ...more] = [...others.filter((word) => !isOption(word)), ...words.slice(end + 1)];
  if (more.length > 0) return refuse("one path at a time");
  if (target !== undefined && WITHOUT_TARGET.includes(verb)) return refuse(`${verb} takes no path`);
  const has = (option: string) => others.includes(option);
  return { verb, target, isJson: has("--json"), isFolder: has("--folder"), isBelow: has("--below") };
}

/** The answer that a request gives; `undefined` for one that gives none. */
export function answerOf({ verb, isFolder }: TrustRequest): TrustAnswer | undefined {
  if (verb === "yes") return isFolder ? "folder" : "content";
  if (verb === "text") return "text";
  return verb === "no" ? "never" : undefined;
}
