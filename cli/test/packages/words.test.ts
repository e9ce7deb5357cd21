import type { InstalledPackage } from "@pi-agent/loader";
import { expect, test } from "vitest";
import { parseArguments } from "../../src/arguments.ts";
import { BUILT_IN } from "../../src/commands/built-in.ts";
import { USAGES, usageOf } from "../../src/commands/usage.ts";
import { drawView, listChoices, move } from "../../src/packages/config-view.ts";
import { createProgress } from "../../src/packages/progress.ts";
import { isProblem, readRequest } from "../../src/packages/request.ts";
import { wordUpdate } from "../../src/packages/word-update.ts";

const FORM = { command: "install", switches: ["--local", "--yes"], values: ["--lock"], mostWords: 1 };

function read(...argv: string[]) {
  const { commandArguments, flags } = parseArguments(["install", ...argv]);
  return readRequest(commandArguments, FORM, flags);
}

test.each([
  [
    "an option that it does not know",
    ["--yess"],
    "it does not take --yess",
    "did you mean --yes? pi install --help shows all",
  ],
  ["a flag of pi that means nothing here", ["x", "--model", "m"], "it does not take --model"],
  ["an option without its value", ["--lock"], "--lock has no value"],
  ["a switch with a value", ["--yes=no"], "--yes is a switch, without a value"],
  ["a second source", ["npm:a", "npm:b"], "it takes one source at a time"],
])("%s is refused with the reason", (_, argv, why, hint = "pi install --help shows what it takes") => {
  expect(read(...argv)).toEqual({ what: "pi install cannot be done like this", why, hint });
});

test("P10: nothing after two dashes is an option, and what was typed is not repeated with a password in it", () => {
  const request = read("--yes", "--", "--local");
  expect(request).toMatchObject({ words: ["--local"], scope: "user" });
  expect(read("-l", "@scope/name")).toMatchObject({ words: ["@scope/name"], scope: "project" });
  expect(JSON.stringify(read("https://me:secret-word@host/x.git", "y"))).not.toContain("secret-word");
  expect(JSON.stringify(read("--https://me:secret-word@host/x.git"))).not.toContain("secret-word");
  expect(isProblem(read("x", "-a", "--offline", "--trust", `sha256-${"0".repeat(64)}`))).toBe(false);
});

test("every sub-command has a help of its own, as wide as a terminal", () => {
  expect(Object.keys(USAGES)).toEqual([...BUILT_IN.keys()]);
  const lines = Object.values(USAGES).flatMap((usage) => usage.split("\n"));
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(usageOf("uninstall")).toBe(USAGES.remove);
});

test("F013: what is pinned is said, with the reason; names cannot draw on the terminal", () => {
  const pinned = {
    identity: "i",
    source: "npm:a@1.0.0",
    from: "1.0.0",
    status: "pinned",
    reason: "it is exact",
  } as const;
  expect(wordUpdate(pinned, "did")).toBe("Pinned npm:a@1.0.0: 1.0.0 stays, it is exact");
  const evil = { ...pinned, source: "npm:a\u001b[2J", status: "update", to: "2.0.0\n" } as const;
  expect(wordUpdate(evil, "did")).toBe("Updated npm:a\\u{1b}[2J: 1.0.0 -> 2.0.0\\u{a}");
});

test("progress on a pipe is plain lines, and nothing is shown of what is done within half a second", async () => {
  const lines: string[] = [];
  const progress = createProgress({ write: (text: string) => lines.push(text) > 0 } as never);
  progress.report({ step: "resolving", what: "npm:a" });
  progress.report({ step: "fetching", what: "a\u001b[2J", done: 1, total: 3 });
  expect(lines).toEqual([]);
  await expect.poll(() => lines, { timeout: 5_000 }).toEqual(["fetching a\ufffd[2J (1 of 3)\n"]);
  progress.end();
});

const PACKAGE = {
  identity: "npm:a",
  scope: "user",
  name: "a",
  version: "1.0.0",
  state: "ok",
  resources: {
    extensions: [1, 2, 3, 4, 5, 6].map((number) => ({ path: `extensions/${number}.ts`, isOn: number !== 5 })),
    skills: [],
    prompts: [],
    themes: [],
  },
} as unknown as InstalledPackage;

test("the list of pi config shows the part around what is chosen, on a terminal of any size", () => {
  const view = { scope: "user", packages: [PACKAGE], chosen: 4, note: "" } as const;
  expect(drawView(view, { rows: 24, columns: 80 }).slice(0, 4)).toEqual([
    "Packages of yours, in every project",
    "",
    "a 1.0.0",
    "    [x] extensions/1.ts",
  ]);
  expect(drawView(view, { rows: 8, columns: 20 }).slice(2, 5)).toEqual([
    "    [x] ext…ons/4.ts",
    "  > [ ] ext…ons/5.ts",
    "    [x] ext…ons/6.ts",
  ]);
  expect([move(view, -9), move(view, 9)]).toEqual([0, listChoices(view).length - 1]);
});
