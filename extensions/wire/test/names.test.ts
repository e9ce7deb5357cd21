import { expect, test } from "vitest";
import { createToolNames, PLAIN_64, toAlphabet } from "../src/index.ts";

const ODD = [
  "",
  "read:0",
  "read.0",
  "a.b",
  "ünï",
  "🎉",
  "call_abc|fc_".padEnd(450, "0"),
  "call_abc|fc_".padEnd(451, "0"),
  "x".repeat(65),
];

test.each([64, 40, 9])("F130 odd ids fit an alphabet of %i characters, and no two become one", (maxLength) => {
  const alphabet = { ...PLAIN_64, maxLength };
  const mapped = ODD.map((id) => toAlphabet(id, alphabet));
  for (const id of mapped) expect(id).toMatch(new RegExp(`^[A-Za-z0-9_-]{1,${maxLength}}$`));
  expect(new Set(mapped).size).toBe(ODD.length);
  expect(ODD.map((id) => toAlphabet(id, alphabet))).toEqual(mapped);
});

test("F130 an id that fits is not touched", () => {
  expect(toAlphabet("call_Ab-9", PLAIN_64)).toBe("call_Ab-9");
});

test("tool names are mapped to the wire and back", () => {
  const tools = ["read", "mcp/files.read", "mcp/files_read"].map((name) => ({
    name,
    description: "",
    parameters: {},
  }));
  const names = createToolNames(tools, PLAIN_64);
  for (const { name } of tools) {
    expect(names.toWire(name)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(names.fromWire(names.toWire(name))).toBe(name);
  }
  expect(names.toWire("read")).toBe("read");
  expect(names.fromWire("unknown")).toBe("unknown");
});
