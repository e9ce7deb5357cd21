import type { Readable } from "node:stream";

/** The text of a stream as it grows. */
export interface OutputWatch {
  readonly text: string;
  /** Resolves with the match; fails when the stream ends without it. */
  waitFor: (pattern: string | RegExp) => Promise<RegExpMatchArray>;
}

/** Collects a stream's text and tells when a pattern has come. */
export function createOutputWatch(name: string, stream: Readable | null): OutputWatch {
  let text = "";
  let hasEnded = stream === null;
  const looks = new Set<() => void>();
  const lookAll = () => {
    for (const look of looks) look();
  };
  stream?.setEncoding("utf8");
  stream?.on("data", (chunk: string) => {
    text += chunk;
    lookAll();
  });
  stream?.once("close", () => {
    hasEnded = true;
    lookAll();
  });
  return {
    get text() {
      return text;
    },
    waitFor(pattern) {
      const { promise, resolve, reject } = Promise.withResolvers<RegExpMatchArray>();
      const expression = typeof pattern === "string" ? toExpression(pattern) : pattern;
      const look = () => {
        const match = text.match(expression);
        if (match) resolve(match);
        else if (hasEnded) reject(new Error(`${name} ended without ${String(pattern)}:\n${text}`));
        else return;
        looks.delete(look);
      };
      looks.add(look);
      look();
      return promise;
    },
  };
}

function toExpression(literal: string): RegExp {
  return new RegExp(literal.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
}
