import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWorkbench } from "./workbench.ts";

/** What the case says: a line a turn, a listener of the bus, and a timer that nobody clears. */
const CASE = `import { appendFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
const log = (text) => appendFileSync(join(homedir(), "log"), text + "\\n");
export default function (pi) {
  pi.on("turn_end", () => log("turn"));
  pi.events.on("ping", () => log("ping"));
  pi.on("session_start", (_event, ctx) => { setInterval(() => ctx.ui.notify("x"), 50); });
  pi.onDispose(() => log("disposed"));
  pi.registerCommand("again", { handler: (_args, ctx) => ctx.reload() });
  pi.registerCommand("ping", { handler: () => pi.events.emit("ping") });
  pi.registerCommand("rest", { handler: () => new Promise((resolve) => setTimeout(resolve, 500)) });
}
`;

test("F008: three reloads, a turn and half a second later there is one line, one listener, and the process lives", async () => {
  await using bench = await openWorkbench([{ text: "Done." }], { agentFiles: { "extensions/case.ts": CASE } });
  const { code, stdout, stderr } = await bench.ask("/again", "/again", "/again", "Go.", "/ping", "/rest").done;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
  const lines = readFileSync(join(bench.home, "log"), "utf8").trim().split("\n");
  expect(lines).toEqual(["disposed", "disposed", "disposed", "turn", "ping", "disposed"]);
  // The timers of the old instances call old handles: that is told with the extension's name, and so are the timers.
  expect(stderr).toContain("case.ts was unloaded; its old handles do nothing");
  expect(stderr).toMatch(/After the reload there is more than before \(1 × timer\)/);
});

test("--session-id that could lead elsewhere is a usage error", async () => {
  await using bench = await openWorkbench([{ text: "never" }]);
  const { code, stderr } = await bench.ask("Go.", "--session-id", "../x").done;
  expect(code).toBe(2);
  expect(stderr).toContain("--session-id");
  expect(existsSync(join(bench.agentDir, "sessions"))).toBe(false);
});
