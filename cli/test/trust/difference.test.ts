import type { PlanChange } from "@pi-agent/loader";
import { expect, test } from "vitest";
import { describeDifference } from "../../src/trust/difference.ts";
import type { Memory, Version } from "../../src/trust/memory.ts";
import { item } from "./planned.ts";

const THEIRS = item("executable", "extension:.pi/extensions/a.ts", { members: { ".pi/extensions/a.ts": "sha256-0" } });
const CHANGED: PlanChange = { isNew: false, added: [], removed: [], changed: [".pi/extensions/a.ts"] };
const bytes = (text: string): Version => ({ bytes: Buffer.from(text) });

function differ(before: Version | undefined, now: Version | undefined, change = CHANGED): Promise<string> {
  const memory: Memory = { notes: [], changeOf: () => change, versionsOf: () => ({ before, now }) };
  return describeDifference([THEIRS], memory);
}

test("what changed is shown as a unified diff", async () => {
  expect(await differ(bytes("one\ntwo\nthree\n"), bytes("one\n2\nthree\n"))).toBe(`extension .pi/extensions/a.ts
--- .pi/extensions/a.ts
+++ .pi/extensions/a.ts
@@ -1,3 +1,3 @@
 one
-two
+2
 three
`);
});

test("attack 24: what hides in a text is spelled out, and its lines and indents stay", async () => {
  expect(await differ(bytes("a\n"), bytes("\ta\u202e\u200b \u001b[2K  b\n"))).toContain(
    "+\ta\\u{202e}\\u{200b} \\u{1b}[2K  b\n",
  );
});

test("a resource that is new is shown as a whole", async () => {
  const change = { isNew: true, added: [], removed: [], changed: [] };
  expect(await differ(undefined, bytes("new\n"), change)).toBe(`extension .pi/extensions/a.ts was not approved before
--- /dev/null
+++ .pi/extensions/a.ts
@@ -0,0 +1,1 @@
+new
`);
});

test.each([
  ["bytes that are no text", bytes("a\0"), bytes("ab\0"), "2 bytes before, 3 bytes now"],
  ["bytes of another encoding", { bytes: Buffer.from([0xff]) }, bytes("a"), "1 bytes before, 1 bytes now"],
  ["what was not kept", "lost", bytes("a"), "not kept before, 1 bytes now"],
  ["what is gone", bytes("a\0"), undefined, "2 bytes before, not there now"],
] as [string, Version | undefined, Version | undefined, string][])(
  "%s: its size is told",
  async (_, before, now, told) => {
    expect(await differ(before, now)).toContain(`\n${told}\n`);
  },
);

test("a link is shown by its target, and a text that became another is not compared for ever", async () => {
  expect(await differ({ link: "a" }, { link: "b" })).toContain("-link to a\n+link to b\n");
  const lines = (word: string) => bytes(Array.from({ length: 50_000 }, (_, n) => `${word} ${n}\n`).join(""));
  expect(await differ(lines("a"), lines("b"))).toContain("more than 2000 lines differ");
});

test("a change that is in no text is told", async () => {
  const change = { isNew: false, added: [], removed: [], changed: [] };
  expect(await differ(undefined, undefined, change)).toContain("which of them may be executed, or what it is, changed");
});
