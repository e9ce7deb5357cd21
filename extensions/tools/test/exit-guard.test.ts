import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandLineOf } from "./living.ts";

const SOURCE = join(import.meta.dirname, "../src/run-command.ts");

test("F077: a command that ignores every signal is killed when the agent's process exits", async () => {
  const program = `
    import { runCommand } from ${JSON.stringify(SOURCE)};
    void runCommand("trap '' INT TERM HUP; echo $$; while :; do sleep 100; done", {
      cwd: "/", env: { ...process.env, PI_COMMAND_MARK: "guarded" }, mark: "guarded",
      onOutput: (bytes) => { console.log(String(bytes)); process.exit(0); },
    });`;
  const agent = spawn(process.execPath, ["--input-type=module-typescript", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  agent.stdout.on("data", (bytes) => (printed += String(bytes)));
  await once(agent, "close");
  const pid = Number(printed.trim());
  expect(pid).toBeGreaterThan(1);
  await expect.poll(() => commandLineOf(pid)).toBeUndefined();
});
