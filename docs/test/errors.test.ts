import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { EXIT_CODES } from "../../cli/src/exit-codes.ts";
import { collectErrorCodes } from "./error-codes.ts";

const read = (path: string) => readFileSync(join(import.meta.dirname, "../..", path), "utf8");
const PAGE = read("docs/errors.md");
const { byPackage, unreadable } = collectErrorCodes();

/** The rows of the tables below a heading, or of all: cells without their blanks, without the two head rows. */
function rowsOf(page: string): string[][] {
  return [...page.matchAll(/^\| (?!Code |Kind |-)(.*) \|$/gm)].map(([, row]) =>
    row!.split("|").map((cell) => cell.trim()),
  );
}

function sectionOf(title: string): string {
  return new RegExp(`^## ${title}\n([^]*?)(?=^## |$(?![^]))`, "m").exec(PAGE)?.[1] ?? "";
}

const codeOf = (cell = "") => cell.replaceAll("`", "");
const isSystemCode = (code: string) => /^E[A-Z]+$/.test(code);

test("every code can be read off the sources", () => {
  expect(unreadable).toEqual([]);
});

test("the page has every code that kernel, loader, cli and extensions raise, with who raises it, and no other", () => {
  const raised = new Map<string, string[]>();
  for (const [folder, codes] of byPackage) {
    if (folder === "extensions/tools") continue;
    for (const code of codes.keys()) raised.set(code, [...(raised.get(code) ?? []), basename(folder)].toSorted());
  }
  const rows = rowsOf(PAGE.slice(0, PAGE.indexOf("## Failures of tools")));
  expect(rows.filter((cells) => cells.length !== 4 || cells.includes(""))).toEqual([]);
  const told = rows.map(([code, , , from]) => [codeOf(code), from!.split(", ")]);
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(raised));
  expect(told).toHaveLength(raised.size);
});

test("the page has every failure of a tool, and no other", () => {
  const codes = [...byPackage.get("extensions/tools")!.keys()].filter((code) => !isSystemCode(code));
  const told = rowsOf(sectionOf("Failures of tools")).map(([code]) => codeOf(code));
  expect(told.toSorted()).toEqual(codes.toSorted());
});

test("the page has every kind of a model's failure, and no other", () => {
  const [, union = ""] = /export type FailureKind =([^;]*);/.exec(read("kernel/src/messages.ts")) ?? [];
  const kinds = [...union.matchAll(/"(\w+)"/g)].map(([, kind]) => kind!);
  expect(rowsOf(sectionOf("Failures of a model")).map(([kind]) => codeOf(kind))).toEqual(kinds);
});

test("the page has every exit code, and no other", () => {
  const told = rowsOf(sectionOf("Exit codes")).map(([code]) => Number(code));
  expect(told).toEqual(Object.values(EXIT_CODES));
});
