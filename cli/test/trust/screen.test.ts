import { expect, test } from "vitest";
import { columnsOf } from "../../src/terminal-text.ts";
import { describeQuestion, listChoices } from "../../src/trust/screen.ts";
import { item, memory, plan } from "./planned.ts";

const SIZE = { rows: 40, columns: 100 };
const ITEMS = [
  item("text", "skill:.pi/skills/a/SKILL.md", { mayRun: [".pi/skills/a/run.sh", ".pi/skills/a/more.sh"] }),
  item("executable", "extension:.pi/extensions/evil.ts", {
    uncovered: ["an import that it computes"],
    requires: { web: "@acme/web" },
  }),
  item("settings", "settings:.pi/settings.json"),
  item("text", "context-file:AGENTS.md", { verdict: "loaded" }),
];

function ask(asked = plan(ITEMS), known = memory(), size = SIZE) {
  return describeQuestion({ plan: asked, memory: known }, size);
}

/** Rows that a terminal of so many columns needs. */
function rowsOf(text: string, columns: number): number {
  return text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(columnsOf(line) / columns)), 0);
}

test("attack 24: what can run comes first, everything is counted, and what loads anyway is named", () => {
  expect(ask()).toBe(`This project brings things that load only if you say so.
  /their/project

Can run code, or choose what runs, with all rights of your account (1):
  extension .pi/extensions/evil.ts
    not covered: an import that it computes
    needs the service: web (from @acme/web)
Changes how pi works (1):
  settings file .pi/settings.json
Words for the model, which may act on them with its tools (1):
  skill .pi/skills/a/SKILL.md
    the model may run: .pi/skills/a/run.sh; .pi/skills/a/more.sh

Loads whatever you answer, as words for the model: AGENTS.md
Trust decides what loads. It is no sandbox: what runs can do whatever you can.
Your answer is kept for the path above.

  1. trust this content: all loads as it is now; asks again about what changes
  2. text only: words for the model load; none of its code, none of its settings
  3. trust this folder, whatever it becomes: all loads, never asks, whoever changes it
  4. not now: nothing of it loads; asks the next time (Enter)
  5. never: nothing of it loads, and it does not ask again`);
});

test.each([
  ["an escape code", "\u001b[2K\rnothing to load", "\\u{1b}[2K\\u{d}nothing to load"],
  ["a line feed", "a\n  5. never", "a\\u{a}\\u{20}\\u{20}5. never"],
  ["a change of direction", "x\u202efdp.ts", "x\\u{202e}fdp.ts"],
  ["what has no width", "a\u200bb\ufeffc", "a\\u{200b}b\\u{feff}c"],
  ["what is drawn as nothing", "a\u3164b\u2800c", "a\\u{3164}b\\u{2800}c"],
  ["blanks that are none", "a\u00a0b\u3000c", "a\\u{a0}b\\u{3000}c"],
  ["a gap that pushes the rest away", `a.ts${" ".repeat(3)}b`, "a.ts\\u{20}\\u{20}\\u{20}b"],
  ["a pile of marks", "a\u0301\u0302\u0303\u0304", "a\\u{301}\\u{302}\\u{303}\\u{304}"],
  ["half a character", "a\ud800b", "a\\u{d800}b"],
  ["what is spelled out already", "\\u{41}", "\\u{5c}u{41}"],
])("attack 24: %s in a name is spelled out", (_, name, shown) => {
  const text = ask(plan([item("executable", `extension:.pi/extensions/${name}`)]));
  expect(text).toContain(`  extension .pi/extensions/${shown}\n`);
});

test("attack 24: a very long name keeps its begin and its end, on one line", () => {
  const text = ask(plan([item("executable", `extension:.pi/extensions/${"x".repeat(5_000)}/evil.ts`)]));
  const [line = ""] = text.split("\n").filter((each) => each.includes("extension .pi"));
  expect(line).toMatch(/^ {2}extension \.pi\/extensions\/x+…x+\/evil\.ts$/);
  expect(columnsOf(line)).toBeLessThanOrEqual(SIZE.columns);
});

test.each([
  [24, 80],
  [24, 100],
  [50, 120],
])("attack 24: 5,000 entries stay one screen of %s rows and %s columns, and the rest is counted", (rows, columns) => {
  const many = Array.from({ length: 5_000 }, (_, n) =>
    item(
      n % 2 ? "text" : "executable",
      n % 2 ? `skill:.pi/skills/字${n}/SKILL.md` : `extension:.pi/extensions/${n}.ts`,
      {
        uncovered: ["a", "b"],
      },
    ),
  );
  const text = ask(plan(many), memory({ notes: ["x".repeat(100)] }), { rows, columns });
  // The line that asks is one more.
  expect(rowsOf(text, columns)).toBeLessThan(rows);
  expect(text).toContain("with all rights of your account (2500):");
  expect(text).toContain("which may act on them with its tools (2500):");
  expect(text).toMatch(/and 2\d\d\d more: pi trust show lists them all\n/);
});

test("attack 25: words of the project stand only in names, each behind what it is", () => {
  const lying = item("executable", "extension:.pi/extensions/Verified by pi.ts", {
    requires: { "ok (checked)": "pi\u001b[1m" },
  });
  expect(ask(plan([lying]))).toContain(
    "  extension .pi/extensions/Verified by pi.ts\n    needs the service: ok (checked) (from pi\\u{1b}[1m)\n",
  );
});

test("F040: the path that is shown is the whole path that the answer is kept for", () => {
  const project = `/a ${"very".repeat(60)}/long way`;
  expect(ask(plan(ITEMS, { project }))).toContain(`\n  ${project}\n`);
});

test("F040: a worktree names its twin, and the first choice is to trust as there where the content is the same", () => {
  const twin = { project: "/home/me/main", isSame: true };
  const asked = { plan: plan(ITEMS, { twin }), memory: memory() };
  expect(describeQuestion(asked, SIZE)).toContain(
    "It is a worktree of /home/me/main, which you answered for; this one holds the same.",
  );
  expect(listChoices(asked)[0]).toEqual({
    answer: "content",
    label: "trust as in /home/me/main: all loads as it is now; asks again about what changes",
  });
  const other = { plan: plan(ITEMS, { twin: { ...twin, isSame: false } }), memory: memory() };
  expect(describeQuestion(other, SIZE)).toContain("this one holds something else.");
  expect(listChoices(other)[0]?.label).toMatch(/^trust this content:/);
});

test("T6: what the person's own trust files have to say is said before the answer", () => {
  const note = "/agent/trust.json: Pi trusts /their/project whatever it becomes; that alone does not count here.";
  expect(ask(plan(ITEMS), memory({ notes: [note] }))).toContain(`\nNote: ${note}\n`);
});

test("T7: after a change only what is new or different is asked about, with what became of it", () => {
  const changes = {
    "extension:.pi/extensions/evil.ts": {
      isNew: false,
      added: ["lib/b.ts"],
      removed: ["lib/a.ts"],
      changed: [".pi/x.ts"],
    },
    "skill:.pi/skills/a/SKILL.md": { isNew: true, added: [], removed: [], changed: [] },
  };
  const text = ask(plan(ITEMS), memory({ changes }));
  expect(text).toContain("Something here is new, or not as you approved it. The rest loads as before.");
  expect(text).toContain(
    "  extension .pi/extensions/evil.ts\n    changed: .pi/x.ts\n    added: lib/b.ts\n    removed: lib/a.ts\n",
  );
  expect(text).toContain("  skill .pi/skills/a/SKILL.md\n    it was not approved before\n");
  expect(text).toContain("  6. show what changed");
});

test("a number means the same in every question: none ever moves to a wider answer", () => {
  const answers = (asked: Parameters<typeof listChoices>[0]) => listChoices(asked).map(({ answer }) => answer);
  const all = ["content", "text", "folder", "not-now", "never"];
  const executables = plan(ITEMS.filter(({ grade }) => grade === "executable"));
  const changes = { [ITEMS[0]!.id]: { isNew: true, added: [], removed: [], changed: [] } };
  expect(answers({ plan: executables, memory: memory() })).toEqual(all);
  expect(answers({ plan: plan(ITEMS), memory: memory(), isAnew: true })).toEqual(all);
  expect(answers({ plan: plan(ITEMS), memory: memory({ changes }) })).toEqual([...all, "show"]);
});
