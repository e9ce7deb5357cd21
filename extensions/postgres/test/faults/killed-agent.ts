/**
 * A process to be killed: an agent that runs without end, and tells what was reported as written. Each line is a JSON
 * array: the run, the session, and the exact text of an entry.
 */
import { writeSync } from "node:fs";
import sessions from "@pi-agent/sessions";
import { type Home, LOOK_ONCE, startAgent } from "../agents.ts";

const home = JSON.parse(process.argv[2] ?? "") as Home;
const { agent } = await startAgent(home, { extensions: [sessions], script: LOOK_ONCE });

let run = "";
let unreported: string[] = [];
agent.on("agent_start", ({ runId }) => {
  run = runId;
});
agent.on("transcript_append", ({ entry }) => void unreported.push(JSON.stringify(entry)));
agent.on("transcript_flush", () => {
  writeSync(1, unreported.map((entry) => `${JSON.stringify([run, agent.sessionId, entry])}\n`).join(""));
  unreported = [];
});
for (let n = 0; ; n++) await agent.run(`run ${n}`);
