/** Begins the session that it is given, then says each line of its input. Answers each step with a line. */
import { createInterface } from "node:readline";
import { createAgent } from "@pi-agent/kernel";
import { scriptedProvider } from "@pi-agent/testing";
import sessions from "../src/index.ts";

const flags = new Map([["session", process.argv[2]!]]);
const agent = createAgent({ extensions: [sessions, scriptedProvider(() => ({ text: "done" }))], host: { flags } });
await agent.ready();
agent.open((await agent.dispatch("session_select", { flags }))!);
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  await agent.input(line);
  await agent.settled();
  console.log(`said ${line}`);
}
await agent.dispose();
