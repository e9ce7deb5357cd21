import { readFile } from "node:fs/promises";
import type { ProviderRequest } from "@pi-agent/kernel";
import { failureError } from "@pi-agent/wire";
import { type Line, parseCassette } from "./cassette-file.ts";
import { type Take, type Turn, toTake } from "./take.ts";

/** Where the answers come from, and which of them have been given. */
export interface Deck {
  /** Puts in turns that a program wrote, in place of whatever was in, to be played at their own speed if they have one. */
  insert(turns: readonly Turn[], speed?: number): void;
  /** Answers the take for a request. Fails with an error that carries its failure. */
  next(request: ProviderRequest): Promise<Take>;
  /** Characters per second; 0 is without any wait. */
  speed(): number;
}

interface Cassette {
  name: string;
  /** What has not been given yet. */
  lines: Line[];
}

/** Makes a deck that plays the chosen file from the first request on, unless something is put in. */
export function createDeck(choices: { file(): string | undefined; speed(): number }): Deck {
  let cassette: Promise<Cassette> | undefined;
  let ownSpeed: number | undefined;
  return {
    insert(turns, speed) {
      ownSpeed = speed;
      const lines = turns.map((turn, index) => ({ line: index + 1, take: toTake(turn) }));
      cassette = Promise.resolve({ name: "the script", lines });
    },
    async next(request) {
      cassette ??= openCassette(choices.file());
      return takeNext(await cassette, request);
    },
    speed: () => ownSpeed ?? choices.speed(),
  };
}

async function openCassette(path: string | undefined): Promise<Cassette> {
  if (path === undefined) throw unusable("no cassette is in. Name one: --cassette <file>");
  try {
    return { name: path, lines: parseCassette(await readFile(path, "utf8")) };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw unusable(`${path} cannot be played: ${why}. Mend it, or name another: --cassette <file>`);
  }
}

/** Each purpose has its own place on the cassette, so that calls beside the loop do not mix it up. */
function takeNext({ name, lines }: Cassette, { purpose, messages }: ProviderRequest): Take {
  const place = lines.findIndex(({ take }) => take.purpose === purpose);
  const found = lines[place];
  if (!found) {
    const what = purpose === "turn" ? "another turn" : `a call for ${purpose}`;
    throw unusable(
      `${name} is at its end: it holds no answer to ${what}. Add a line to it, or record a longer run with --record-cassette.`,
    );
  }
  const { line, take } = found;
  const turns = messages.filter((message) => message.role === "assistant").length;
  if (take.turns !== undefined && take.turns !== turns) {
    throw unusable(
      `Line ${line} of ${name} answers a conversation with ${take.turns} answers in it, and this one has ${turns}. Play it from its beginning in a new session, or record it again with --record-cassette.`,
    );
  }
  lines.splice(place, 1);
  return take;
}

/** Makes a failure that is not tried again. */
export function unusable(message: string): Error {
  return failureError({ kind: "invalid_request" }, message);
}
