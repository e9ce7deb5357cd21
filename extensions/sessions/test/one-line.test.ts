import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { sessionLine, titleOf } from "../src/commands/session-rows.ts";
import { treeRows } from "../src/commands/tree-rows.ts";
import { tellEntry } from "../src/export/told.ts";
import { treeOf } from "../src/export/tree.ts";
import { inUse } from "../src/in-use.ts";
import { talk } from "./commands/talk.ts";
import { header, lines, message } from "./support.ts";

const FORGED = "x\n\r\u0085\u2028FORGED a row";
const BREAK = /[\n\r\u0085\u2028]/;
const at = (id: string, parentId: string | null) => ({ id, parentId, timestamp: "2026-01-02T03:04:06.000Z" });

test("what others wrote begins no row of its own in a tree", () => {
  const result = { role: "toolResult", toolCallId: "c", toolName: FORGED, content: [], isError: false, timestamp: 1 };
  const entries = [
    message(`a${FORGED}`, null),
    { type: "model_change", provider: FORGED, modelId: FORGED, ...at("b", `a${FORGED}`) },
    { type: "custom", customType: FORGED, ...at("c", "b") },
    { type: "session_info", name: FORGED, ...at("d", "c") },
    { type: "message", message: result, ...at("e", "d") },
    { type: "label", targetId: "b", label: FORGED, ...at("f", "e") },
  ] as Entry[];
  const rows = treeRows(treeOf(entries), { isAll: true });
  expect(rows).toHaveLength(entries.length);
  for (const { line } of rows) expect(line).not.toMatch(BREAK);
  for (const entry of entries) expect(Object.values(tellEntry(entry)).join("")).not.toMatch(BREAK);
});

test("nor in a list, in an error, or in what /session and /label tell", async () => {
  const info = { id: `i${FORGED}`, cwd: FORGED, name: FORGED, created: "", modifiedMs: 0 };
  expect(sessionLine(info, { folder: true })).not.toMatch(BREAK);
  expect(titleOf(info)).not.toMatch(BREAK);
  const error = inUse({ id: FORGED, file: FORGED }, { pid: 1, host: FORGED, since: FORGED }) as Error & {
    hint: string;
  };
  expect(error.message + error.hint).not.toMatch(BREAK);
  const { type, told, path } = await talk();
  const label = { type: "label", targetId: "a", label: FORGED, ...at("l", "a") };
  const name = { type: "session_info", name: FORGED, ...at("n", "l") };
  const from = header({ cwd: path, id: "theirs", parentSession: FORGED });
  writeFileSync(join(path, "theirs.jsonl"), lines(from, message("a", null), label, name));
  await type("/import theirs.jsonl");
  for (const command of ["/session", "/label", "/name"]) await type(command);
  const text = told();
  expect(text).toContain("FORGED");
  expect(text.split(/[\n\r\u0085\u2028]/).filter((line) => line.startsWith("FORGED"))).toEqual([]);
});
