import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findDocs, readTextOrFile, textsOf } from "../src/sources.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pi-system-prompt-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a value is a file where there is one, else itself", () => {
  writeFileSync(join(folder, "prompt.md"), "\uFEFFfrom a file");
  mkdirSync(join(folder, "dir"));
  expect(readTextOrFile("prompt.md", folder)).toBe("from a file");
  expect(readTextOrFile(join(folder, "prompt.md"), "/")).toBe("from a file");
  for (const text of ["none.md", "dir", "a\nb", "nul\0", "x".repeat(10_000), "be brief"]) {
    expect(readTextOrFile(text, folder)).toBe(text);
  }
});

test("held and blank resources give no text", () => {
  const resource = (path: string, state: "loaded" | "held", text: string) => ({
    id: path,
    kind: "context-file",
    path,
    source: "files",
    scope: "user" as const,
    state,
    text: () => text,
  });
  const list = [resource("a", "loaded", "one"), resource("b", "held", "two"), resource("c", "loaded", " \n")];
  expect(textsOf(list)).toEqual([{ path: "a", text: "one" }]);
});

test("the documentation is found above the code, or not at all", () => {
  const code = join(folder, "extensions/system-prompt/src");
  mkdirSync(code, { recursive: true });
  expect(findDocs(code)).toBeUndefined();
  mkdirSync(join(folder, "docs"));
  writeFileSync(join(folder, "docs/write-an-extension.md"), "");
  expect(findDocs(code)).toBe(join(folder, "docs"));
});
