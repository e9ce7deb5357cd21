/** D4: what goes in comes out as it was. */
import type { Entry, Extension, ExtensionAPI, JsonObject } from "@pi-agent/kernel";
import sessions from "@pi-agent/sessions";
import type { NeutralRequest } from "@pi-agent/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PostgresStore } from "../../src/store.ts";
import { assertRecorded, bodyOf, openHome, type RecordedAgent, startAgent } from "../agents.ts";
import { DATABASES, type TestDatabase } from "../databases.ts";
import { openHub } from "../hubs.ts";

const LARGE_CHARS = process.env.SOAK === "1" ? 50_000_000 : 3_000_000;

/** As models, tools and people make it, and databases do not like it. */
const HALVES = "\uD800 and \uDC00 and 😀";
const ODD: JsonObject = {
  nul: "a\0b",
  "key\0": "\0",
  surrogates: HALVES,
  separators: "\u2028\u2029\uFEFF\r\n\t\v",
  escapes: "\\u0000 \\ \" ' '' $1 $$ :name ? %s",
  numbers: [0.1 + 0.2, 1e21, -1e-7, 2 ** 53 - 1, 5e-324, 1.0],
  order: { b: 1, a: 2, "10": 3, "9": 4 },
  "": [null, true, {}, [], ""],
  "__proto__ ": "x",
  sql: "'); drop schema pi_agent cascade; --",
};

describe.each(DATABASES)("contents on $name", ({ create, isMissing }) => {
  if (isMissing) return test.skip("needs PostgreSQL", () => undefined);
  let place: TestDatabase;
  beforeAll(async () => {
    place = await create();
  }, 60_000);
  afterAll(() => place?.dispose());

  const home = () => ({ agentDir: place.agentDir, url: place.url, settings: { "session.store": "postgres" } });
  const readSession = async (id: string) => {
    const { hub } = openHub(place.agentDir, { url: place.url });
    const store = new PostgresStore(() => hub);
    const session = await store.read(id);
    await store.close();
    await hub.leave();
    return session;
  };
  /** Runs an agent whose model and tool say what is odd; answers its session and its entries. */
  const keep = async (text: string) => {
    const { agent, made, dispose } = await startAgent(home(), {
      extensions: [sessions, oddTool(text)],
      script: ({ messages }) =>
        messages.at(-1)?.role === "user"
          ? { text: "I look.\0", calls: [{ name: "odd", arguments: ODD }] }
          : { text: `${HALVES} is all.` },
    });
    await agent.run("What is a\0b?");
    const entries = agent.transcript.path().map((entry) => JSON.stringify(entry));
    await dispose();
    return { id: agent.sessionId, entries, made };
  };

  test("D4 F149 NUL, halves of surrogate pairs, odd keys and numbers are read back equal, as steps and as a session", async () => {
    const { id, entries, made } = await keep(`${HALVES} a\0b`);
    const session = await readSession(id);
    expect(session?.entries.map((entry) => JSON.stringify(entry))).toEqual(entries);
    expect(session?.problems).toEqual([]);
    const reader = await openHome(home());
    await assertRecorded(reader, made);
    const [row] = await reader.query<{ content: string; tool_calls: [{ arguments: object }] }>(
      "select content, tool_calls from pi_agent.step_details where role = 'assistant' order by seq limit 1",
    );
    expect(row?.content).toContain("I look.\uFFFD");
    expect(row?.tool_calls[0].arguments).toMatchObject({ sql: ODD.sql });
    await reader.close();
  }, 60_000);

  test(`D4 a tool result of ${LARGE_CHARS / 1e6} MB is read back equal`, async () => {
    const { id, entries } = await keep("\u0000ü😀x".repeat(LARGE_CHARS / 5));
    const session = await readSession(id);
    expect(session?.entries.length).toBe(entries.length);
    expect(session?.entries.every((entry, at) => JSON.stringify(entry) === entries[at])).toBe(true);
  }, 120_000);

  test("F151 what a model is asked after a resume from the database is what it would have been asked without", async () => {
    const setup = {
      extensions: [sessions, oddTool("odd \uD800")],
      script: ({ messages }: NeutralRequest) =>
        messages.length === 1
          ? { thinking: "Hm.\0", calls: [{ name: "odd", arguments: ODD }] }
          : { text: `After ${messages.length}.` },
    };
    const ask = async ({ agent }: RecordedAgent, ...texts: string[]) => {
      for (const text of texts) {
        await agent.input(text);
        await agent.settled();
      }
    };
    const before = await startAgent(home(), setup);
    await ask(before, "first", "second");
    await before.dispose();
    const { sessionId } = before.agent;
    const { entries } = (await readSession(sessionId))!;
    const after = await startAgent(home(), {
      ...setup,
      sessionId,
      entries: entries.slice(0, entries.findIndex(isSecond)),
    });
    await ask(after, "second");
    await after.dispose();
    expect(before.requests).toHaveLength(3);
    expect(bodyOf(after.requests.at(-1)!)).toBe(bodyOf(before.requests.at(-1)!));
  }, 60_000);

  test("D4 clocks that are wrong by years change neither order nor contents", async () => {
    const { hub } = openHub(place.agentDir, { url: place.url });
    const store = new PostgresStore(() => hub);
    const times = ["2031-01-01T00:00:00.000Z", "1999-01-01T00:00:00.000Z", "-000001-01-01T00:00:00.000Z", "no time"];
    const entries = times.map(
      (timestamp, at): Entry => ({
        type: "message",
        id: `e${at}`,
        parentId: at === 0 ? null : `e${at - 1}`,
        timestamp,
        message: { role: "user", content: timestamp, timestamp: 0 },
      }),
    );
    const sink = store.open({
      header: { type: "session", version: 3, id: "skew", timestamp: "2031-01-01", cwd: "/" },
      entries: [],
    });
    for (const entry of entries) sink.append(entry);
    await sink.close();
    expect((await store.read("skew"))?.entries).toEqual(entries);
    expect((await store.list()).map(({ id }) => id)).toContain("skew");
    await store.close();
    await hub.leave();
  }, 60_000);
});

function oddTool(text: string): Extension {
  return (pi: ExtensionAPI) =>
    void pi.registerTool({
      name: "odd",
      description: "Says what is odd.",
      parameters: { type: "object" } as never,
      effect: "read",
      execute: async () => ({ content: [{ type: "text", text }], details: ODD }),
    });
}

function isSecond(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "user" && entry.message.content === "second";
}
