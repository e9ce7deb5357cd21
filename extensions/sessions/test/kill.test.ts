import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readSession } from "../src/read.ts";
import { tempFolder } from "./support.ts";

const child = fileURLToPath(new URL("./kill-child.ts", import.meta.url));

/** Lets a process write the session, kills it after some reports, and answers what it reported. */
async function runAndKill(file: string, afterReports: number): Promise<string[]> {
  const process_ = spawn(process.execPath, ["--conditions", "@pi-agent/source", child, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = new Promise((resolve) => process_.once("close", resolve));
  const reported: string[] = [];
  for await (const line of createInterface({ input: process_.stdout })) {
    if (reported.push(line) === afterReports) process_.kill("SIGKILL");
  }
  await closed;
  expect(process_.signalCode).toBe("SIGKILL");
  return reported;
}

test("S2 kill -9 leaves a file that opens with everything that was reported, round after round", async () => {
  const file = join(tempFolder(), "s.jsonl");
  const reported: string[] = [];
  for (const reports of [1, 9, 30]) {
    reported.push(...(await runAndKill(file, reports)));
    const { entries, problems } = readSession(file)!;
    const ids = new Set(entries.map(({ id }) => id));
    expect(reported.filter((id) => !ids.has(id))).toEqual([]);
    // Each kill may leave one torn line, and nothing else.
    expect(problems.filter(({ kind }) => kind !== "torn" && kind !== "unreadable")).toEqual([]);
  }
}, 90_000);
