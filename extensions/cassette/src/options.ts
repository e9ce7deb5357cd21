import { resolve } from "node:path";
import type { ExtensionAPI, Flag } from "@pi-agent/kernel";
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

export const FLAGS: Readonly<Record<string, Flag>> = {
  cassette: { type: "string", description: "Play the answers of this cassette, with --provider cassette" },
  "record-cassette": { type: "string", description: "Record every answer to this cassette" },
  "cassette-speed": { type: "string", description: "Play so many characters per second; left out: at once" },
};

/** The options as they are when they are asked for: flags are known only after the extension has loaded. */
export interface Choices {
  file(): string | undefined;
  record(): string | undefined;
  /** Fails with `flag_value`. */
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
      throw pi.error(
        "flag_value",
        `--cassette-speed takes a number of characters per second, not "${String(value)}".`,
        {
          hint: "For example --cassette-speed 400.",
        },
      );
    },
  };
}
