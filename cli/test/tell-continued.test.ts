import type { Entry } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { describeContinued } from "../src/tell-continued.ts";

const timestamp = "2026-03-04T05:06:07.000Z";
const entry = (fields: object) => ({ id: "1", parentId: null, timestamp, ...fields }) as Entry;
const user = (content: unknown) => entry({ type: "message", message: { role: "user", content, timestamp: 0 } });

test("what is gone on with is told by its first words, its length and its last use", () => {
  const when = new Date(timestamp).toLocaleString();
  expect(describeContinued([user("Mend\nthe \u001b[2Jbuild."), user("More.")])).toBe(
    `going on with "Mend the \ufffd[2Jbuild.", 2 messages, last used ${when}`,
  );
  expect(describeContinued([user([{ type: "text", text: "In parts" }])])).toContain('"In parts"');
});

test("a name goes before first words", () => {
  expect(describeContinued([user("Hi."), entry({ type: "session_info", name: "the build" })])).toContain('"the build"');
});

test("where there is nothing to go on with, that is told", () => {
  expect(describeContinued([])).toMatch(/no session/);
});
