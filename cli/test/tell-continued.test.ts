import { expect, test } from "vitest";
import { describeContinued } from "../src/tell-continued.ts";

// Told in local time.
const lastUsed = new Date(2026, 2, 4, 5, 6, 7).toISOString();

test("what is gone on with is told by its first words, its length and its last use", () => {
  expect(describeContinued({ firstMessage: "Mend\nthe \u001b[2Jbuild.", lastUsed }, 2)).toBe(
    'going on with "Mend the \ufffd[2Jbuild.", 2 entries, last used 2026-03-04 05:06',
  );
});

test("a name goes before first words", () => {
  expect(describeContinued({ name: "the build", firstMessage: "Hi.", lastUsed }, 3)).toContain('"the build"');
});

test("where there is nothing to go on with, that is told", () => {
  expect(describeContinued({}, 0)).toMatch(/no session/);
});
