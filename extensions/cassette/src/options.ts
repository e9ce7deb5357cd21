import { resolve } from "node:path";
import type { ExtensionAPI, Flag } from "@pi-agent/kernel";
import { unusable } from "./deck.ts";
import type { Turn } from "./take.ts";

/** What code and manifests may give; a flag stands over the option of the same meaning. */
export interface CassetteOptions {
  /** The cassette to play. */
  file?: string;
  /** Turns to play instead of a file. */
  turns?: readonly Turn[];
  /** The cassette to record to. */
  record?: string;
  /** Characters per second; left out or 0: without any wait. */
  speed?: number;
}

const TEXT = { type: "string" } as const;
const CALL = {
  type: "object",
  properties: { name: TEXT, arguments: { type: "object" }, id: TEXT },
  required: ["name"],
  additionalProperties: false,
} as const;
const TURN = {
  type: "object",
  properties: {
    thinking: TEXT,
    text: TEXT,
    calls: { type: "array", items: CALL },
    purpose: TEXT,
    turns: { type: "integer", minimum: 0 },
  },
  additionalProperties: false,
} as const;

/** The schema of `CassetteOptions`. */
export const OPTIONS = {
  type: "object",
  properties: {
    file: { type: "string", description: "The cassette to play" },
    turns: { type: "array", items: TURN, description: "Turns to play instead of a file" },
    record: { type: "string", description: "The cassette to record to" },
    speed: { type: "number", minimum: 0, description: "Characters per second; 0: without any wait" },
  },
  additionalProperties: false,
} as const;

export const FLAGS: Readonly<Record<string, Flag>> = {
  cassette: { type: "string", description: "Play the answers of this cassette, with --provider cassette" },
  "record-cassette": { type: "string", description: "Record every answer to this cassette" },
  "cassette-speed": { type: "string", description: "Play so many characters per second; left out: at once" },
};

/** The options as they are when they are asked for: flags are known only after the extension has loaded. */
export interface Choices {
  file(): string | undefined;
  record(): string | undefined;
  /** Fails with an error that carries its failure. */
  speed(): number;
}

export function readChoices(pi: ExtensionAPI, options: CassetteOptions): Choices {
  // A path is typed where the process was started, wherever the session is held.
  const path = (flag: string, option: string | undefined) => {
    const value = pi.getFlag(flag) ?? option;
    return typeof value === "string" ? resolve(value) : undefined;
  };
  return {
    file: () => path("cassette", options.file),
    record: () => path("record-cassette", options.record),
    speed() {
      const value = pi.getFlag("cassette-speed") ?? options.speed ?? 0;
      const speed = Number(value);
      if (Number.isFinite(speed) && speed >= 0 && value !== "") return speed;
      throw unusable(
        `--cassette-speed is "${String(value)}", which is no number of characters per second, so nothing was played. Give one, as --cassette-speed 400, or leave it out.`,
      );
    },
  };
}
