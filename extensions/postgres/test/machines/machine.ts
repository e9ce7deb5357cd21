/**
 * A machine: a process with an agent directory of its own. Goes on with a session of the database, or begins one; tells
 * the session and the last request that its model got.
 */
import type { Entry } from "@pi-agent/kernel";
import sessions from "@pi-agent/sessions";
import { PostgresStore } from "../../src/store.ts";
import { bodyOf, type Home, openHome, startAgent } from "../agents.ts";
import { openHub } from "../hubs.ts";

export interface MachineOrder {
  home: Home;
  prompts: string[];
  /** The session to go on with. */
  session?: string;
  /** Goes on before this prompt, as if it had not been typed yet. */
  before?: string;
}

const order = JSON.parse(process.argv[2] ?? "") as MachineOrder;
const { home, prompts, session, before } = order;
const entries = session === undefined ? [] : await read(session);
const at = entries.findIndex((entry) => isPrompt(entry, before));
const { agent, requests, dispose } = await startAgent(home, {
  extensions: [sessions],
  script: ({ messages }) =>
    messages.length === 1
      ? { calls: [{ name: "look", arguments: { at: "here" } }] }
      : { text: `After ${messages.length}.` },
  ...(session !== undefined && { sessionId: session, entries: at < 0 ? entries : entries.slice(0, at) }),
});
for (const prompt of prompts) {
  await agent.input(prompt);
  await agent.settled();
}
await dispose();
await (await openHome(home)).close();
process.stdout.write(JSON.stringify({ session: agent.sessionId, request: bodyOf(requests.at(-1)!) }));

async function read(id: string): Promise<readonly Entry[]> {
  const { hub } = openHub(home.agentDir, { url: home.url });
  const found = await new PostgresStore(() => hub).read(id);
  await hub.leave();
  if (!found) throw new Error(`There is no session ${id}.`);
  return found.entries;
}

function isPrompt(entry: Entry, prompt: string | undefined): boolean {
  return entry.type === "message" && entry.message.role === "user" && entry.message.content === prompt;
}
