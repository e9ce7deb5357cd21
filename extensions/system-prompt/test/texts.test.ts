import { expect, test } from "vitest";
import { describePlace, listRules, listTools, wrapContextFiles } from "../src/texts.ts";

test("tools with a snippet are listed, and others only hinted at", () => {
  expect(listTools([{ name: "read", promptSnippet: "Read files" }])).toBe("These tools are on:\n- read: Read files");
  expect(listTools([{ name: "read", promptSnippet: "Read files" }, { name: "x" }])).toContain("Further tools");
  expect(listTools([{ name: "x" }])).toBe("");
});

test("rules are flat, each once, and end with brevity and paths", () => {
  const tools = [
    { name: "read", promptGuidelines: ["Read first.", " Read first. ", ""] },
    { name: "edit", promptGuidelines: ["Read first.", "Edit little."] },
  ];
  expect(listRules(tools).split("\n")).toEqual([
    "- Read first.",
    "- Edit little.",
    "- Be concise.",
    "- Name files by their paths, so that the person finds them.",
  ]);
});

test("the shell is for searching where grep, find and ls are off", () => {
  const rule = /^- Use bash to list and to search files\.$/m;
  expect(listRules([{ name: "bash" }])).toMatch(rule);
  expect(listRules([{ name: "powershell" }])).toContain("Use powershell");
  for (const name of ["grep", "find", "ls"]) expect(listRules([{ name: "bash" }, { name }])).not.toMatch(rule);
  expect(listRules([{ name: "read" }])).not.toMatch(rule);
});

test("context files stand in tags with their paths", () => {
  expect(wrapContextFiles([])).toBe("");
  const text = wrapContextFiles([
    { path: "/a/AGENTS.md", text: "one\n" },
    { path: '/b/"x" & <y>/CLAUDE.md', text: "two" },
  ]);
  expect(text).toContain('<project_instructions path="/a/AGENTS.md">\none\n</project_instructions>');
  expect(text).toContain('path="/b/&quot;x&quot; &amp; &lt;y>/CLAUDE.md"');
});

test("the place is the date and the working directory", () => {
  expect(describePlace("C:\\work", new Date(2026, 0, 2, 23, 59))).toBe(
    "Current date: 2026-01-02\nCurrent working directory: C:/work",
  );
});
