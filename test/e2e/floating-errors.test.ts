import { assertEventOrder, lastResults } from "@pi-agent/testing";
import { expect, test } from "vitest";
import { messagesOf, openWorkbench, parseLines, readSessions } from "./workbench.ts";

// What a deadline leaves for the rest of a start and a run.
const AFTER_DEADLINE_MS = 90_000;
const READ = { calls: [{ name: "read", arguments: { path: "a.txt" } }] };
const MODES = ["print", "json"] as const;

const FAULTS = [
  ["a: an async handler that throws", 'pi.on("tool_result", async () => { throw new Error("fault a"); });', "fault a"],
  [
    "b: a rejection in a timer",
    'pi.on("tool_result", () => new Promise((go) => setTimeout(() => { Promise.reject(new Error("fault b")); setTimeout(go, 20); }, 10)));',
    "fault b",
  ],
  [
    "b: a throw in a timer",
    'pi.on("tool_result", () => new Promise((go) => { setTimeout(go, 30); setTimeout(() => { throw new Error("fault b"); }, 10); }));',
    "fault b",
  ],
  ["c: a handler of an event that never answers", 'pi.on("turn_start", () => new Promise(() => {}));', "within 5 s"],
  // Half a minute each.
  ...(process.env.SOAK
    ? ([
        ["c: a handler that never answers", 'pi.on("tool_result", () => new Promise(() => {}));', "within 30 s"],
      ] as const)
    : []),
] as const;

for (const mode of MODES) {
  test.concurrent.for(FAULTS)(
    `F011 in ${mode} mode, %s: told with its name, the turn ends, the history is whole`,
    { timeout: AFTER_DEADLINE_MS },
    async ([, body, told]) => {
      await using bench = await openWorkbench([READ, { text: "Done." }, { text: "Still here." }], {
        files: { "a.txt": "alpha\n" },
        agentFiles: { "extensions/faulty.ts": `export default (pi) => { ${body} };\n` },
      });
      const args = ["-p", "Go.", "--model", "wire-anthropic/scripted", ...(mode === "json" ? ["--mode", "json"] : [])];
      const { code, stdout, stderr } = await bench.pi(args, { timeoutMs: AFTER_DEADLINE_MS }).done;
      expect(code).toBe(0);
      if (mode === "print") expect(stdout).toBe("Done.\n");
      else assertEventOrder(parseLines(stdout).slice(1));
      expect(stderr).toContain("faulty.ts");
      expect(stderr).toContain(told);
      expect(lastResults(bench.server.requests[1]!.neutral!)[0]?.text).toContain("alpha");
      const [session] = await readSessions(bench.agentDir);
      const roles = messagesOf(session ?? []).map(({ role }) => role);
      expect(roles.filter((role) => role !== "system")).toEqual(["user", "assistant", "toolResult", "assistant"]);
      await bench.pi(["-p", "-c", "-ne", "And now?", "--model", "wire-anthropic/scripted"]).done;
      expect(bench.server.refusals()).toEqual([]);
    },
  );
}
