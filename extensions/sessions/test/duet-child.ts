/** An agent on a session file: takes lines from its parent (a prompt, or `name …`), and answers `done` to each. */
import { createInterface } from "node:readline";
import { createAgent, type Host } from "@pi-agent/kernel";
import { scriptedProvider } from "@pi-agent/testing";
import sessions from "../src/index.ts";

const flags = new Map([["session", process.argv[2]!]]);
const host: Partial<Host> = { cwd: process.cwd(), flags };
const agent = createAgent({ extensions: [sessions, scriptedProvider(() => ({ text: "y".repeat(5_000) }))], host });
await agent.ready();
agent.on("fault", ({ error }) => void process.stdout.write(`${error.code}\n`));
const selected = await agent.dispatch("session_select", { flags });
if (selected) {
  agent.open(selected);
  await agent.dispatch("session_start", { reason: "startup" });
  process.stdout.write("ready\n");
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.startsWith("name ")) agent.append([{ type: "session_info", name: line.slice(5) }]);
    else await agent.input(line);
    await agent.settled();
    process.stdout.write("done\n");
  }
}
await agent.dispose();
