/** Runs turns for ever, and reports at each provider call what is on disk by then. Killed by its parent. */
import { writeSync } from "node:fs";
import { createAgent, type Extension } from "@pi-agent/kernel";
import { scriptedProvider } from "@pi-agent/testing";
import sessions from "../src/index.ts";

const flags = new Map([["session", process.argv[2]!]]);
const note: Extension = (pi) => {
  pi.registerTool({
    name: "note",
    description: "Answers",
    parameters: { type: "object" },
    execute: async () => ({ content: [{ type: "text", text: "x".repeat(20_000) }] }),
  });
  pi.on("provider_call", (request, next, ctx) => {
    writeSync(
      1,
      `${ctx.transcript
        .path()
        .map(({ id }) => id)
        .at(-1)}\n`,
    );
    return next(request);
  });
};
let count = 0;
const model = scriptedProvider(() => ({ calls: [{ id: `call-${count++}`, name: "note", arguments: {} }] }));
const agent = createAgent({ extensions: [sessions, model, note], host: { flags } });
await agent.ready();
const selected = await agent.dispatch("session_select", { flags });
agent.open(selected!);
await agent.input("go");
await agent.settled();
