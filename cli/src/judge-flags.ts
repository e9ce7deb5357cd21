/** Judges flags of the default packages that only a whole start can judge: a package may report, but not refuse it. */
import type { FlagValue } from "@pi-agent/kernel";
import type { Problem } from "./problem.ts";

/** Answers what is wrong with flags that do not fit the mode, or have no meaning. */
export function judgeFlags(flags: ReadonlyMap<string, FlagValue>, mode: string): Problem | undefined {
  if (flags.get("log") === "stdout" && mode !== "print") {
    return {
      what: "--log stdout cannot be used here",
      why: `standard output belongs to the mode ${mode}`,
      hint: "log to stderr or to a file, or use -p",
    };
  }
  const speed = flags.get("cassette-speed");
  if (speed !== undefined && !(String(speed).trim() !== "" && Number(speed) >= 0 && Number.isFinite(Number(speed)))) {
    return {
      what: `--cassette-speed cannot be "${String(speed)}"`,
      why: "it takes a number of characters per second",
      hint: "for example: --cassette-speed 400",
    };
  }
  return undefined;
}
