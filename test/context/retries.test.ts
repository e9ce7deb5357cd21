import compaction from "@pi-agent/compaction";
import retry from "@pi-agent/retry";
import type { Turn } from "@pi-agent/testing";
import { WIRE_PROVIDERS } from "@pi-agent/testing/wire";
import { expect, test } from "vitest";
import { look, prompt, startWireAgent } from "./wire-agent.ts";

const CALLS: Turn = {
  thinking: "Two views.",
  text: "I look twice.",
  calls: [
    { name: "look", arguments: { what: "the sea" } },
    { name: "look", arguments: { what: "the sky" } },
  ],
};

const FAILURES: NonNullable<Turn["fail"]>[] = ["cut", "end", "error-event", { status: 500 }, { status: 429 }];

for (const wire of WIRE_PROVIDERS) {
  test.for(FAILURES)(
    `${wire}: K7 answers with calls that break off as %j are tried again, and leave nothing behind`,
    async (fail) => {
      const broken = { ...CALLS, fail };
      const script = [broken, broken, CALLS, broken, { text: "That is all." }, broken, { text: "Still here." }];
      await using it = await startWireAgent({ wire, script, extensions: [[retry, { baseDelayMs: 0 }], look] });
      const ran: string[] = [];
      it.agent.on("tool_execution_start", ({ toolCallId }) => void ran.push(toolCallId));
      await prompt(it.agent, "What do you see?");
      await prompt(it.agent, "Are you there?");
      expect(it.server.refusals()).toEqual([]);
      expect(it.server.requests).toHaveLength(script.length);
      expect(ran).toHaveLength(2);
      const hidden = it.agent.transcript.path().filter(({ type }) => type === "context_edit");
      expect(hidden).toHaveLength(4);
      expect(it.faults).toEqual([]);
    },
  );

  test(`${wire}: a summary that fails is asked for again, and the conversation goes on with it`, async () => {
    const script = [
      CALLS,
      { text: "Seen." },
      { text: "It is." },
      { fail: { status: 500 } },
      { text: "## Goal\nSee the sea." },
      { text: "It was asked about its colour." },
      { text: "On." },
    ];
    const extensions = [[retry, { baseDelayMs: 0 }] as never, [compaction, { keepRecentTokens: 1 }] as never, look];
    await using it = await startWireAgent({ wire, script, extensions });
    await prompt(it.agent, "What do you see? ".repeat(100));
    await prompt(it.agent, "Is it blue?");
    await it.agent.service("compaction")!.compact();
    await prompt(it.agent, "And now?");
    expect(it.server.refusals()).toEqual([]);
    expect(it.server.requests).toHaveLength(script.length);
    expect(it.agent.transcript.project()[0]).toMatchObject({ customType: "compactionSummary" });
  });
}
