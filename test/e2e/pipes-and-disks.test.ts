import { spawnSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWorkbench, parseLines } from "./workbench.ts";

test("a reader that goes away in mid stream is exit code 0, without a word", async () => {
  await using bench = await openWorkbench([{ text: "word ".repeat(20_000), deltas: 2_000 }]);
  const run = bench.ask("Go.", "--mode", "json");
  await run.waitForStdout("\n");
  run.closeStdout();
  const { code, stderr } = await run.done;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("a reader that was never there is exit code 0 in print mode", async () => {
  await using bench = await openWorkbench([{ text: "Done." }]);
  const run = bench.ask("Go.");
  run.closeStdout();
  const { code, stderr } = await run.done;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("an output that cannot be written is exit code 1 and says why", async () => {
  await using bench = await openWorkbench([{ text: "Done." }]);
  const run = bench.pi(["-p", "Go.", "--model", "wire-chat/scripted"], {
    via: ["sh", "-c", 'exec "$@" > /dev/full', "sh"],
  });
  const { code, stderr } = await run.done;
  expect(code).toBe(1);
  expect(stderr).toMatch(/output cannot be written/);
  expect(stderr).toMatch(/ENOSPC|no space/i);
});

const canMount = spawnSync("unshare", ["-rm", "sh", "-c", "mount -t tmpfs none /mnt"]).status === 0;

test("a full disk is told once, and the run goes on to its answer (F113)", async ({ skip }) => {
  if (!canMount) skip("needs mount");
  const writes = Array.from({ length: 12 }, (_, turn) => ({
    calls: [{ name: "bash", arguments: { command: `echo turn ${turn}; head -c 6000 /dev/zero | tr '\\0' x` } }],
  }));
  await using bench = await openWorkbench([...writes, { text: "Done." }]);
  const sessions = join(bench.agentDir, "sessions");
  await mkdir(sessions, { recursive: true });
  const run = bench.pi(["-p", "Go.", "--mode", "json", "--model", "wire-chat/scripted"], {
    via: ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=16k none "$0" && exec "$@"', sessions],
  });
  const { code, stdout, stderr } = await run.done;
  expect(code).toBe(0);
  expect(JSON.stringify(parseLines(stdout))).toContain("Done.");
  expect(stderr.match(/^.*ENOSPC.*$/gm)).toHaveLength(1);
});
