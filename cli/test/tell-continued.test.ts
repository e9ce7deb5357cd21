import { expect, test } from "vitest";
import { describeContinued } from "../src/tell-continued.ts";

const lastUsed = "2026-03-04T05:06:07.000Z";

test("what is gone on with is told by its first words, its length and its last use", () => {
  const when = new Date(lastUsed).toLocaleString();
  expect(describeContinued({ firstMessage: "Mend\nthe \u001b[2Jbuild.", lastUsed }, 2)).toBe(
    `going on with "Mend the \ufffd[2Jbuild.", 2 entries, last used ${when}`,
  );
});

test("a name goes before first words", () => {
  expect(describeContinued({ name: "the build", firstMessage: "Hi.", lastUsed }, 3)).toContain('"the build"');
});

test("where there is nothing to go on with, that is told", () => {
  expect(describeContinued({}, 0)).toMatch(/no session/);
});
