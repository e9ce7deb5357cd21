import { expect, test } from "vitest";
import { readAgentFile } from "../src/agent-file.ts";
import { planAgent } from "../src/plan.ts";
import { fileOf, toResource } from "./open-agents.ts";

const KNOWN = {
  tools: ["read", "bash", "find", "grep"].map((name) => ({ name, package: "@pi-agent/tools" })),
  packages: ["@pi-agent/tools"],
  skills: ["pdf"],
  findModel: () => {
    throw new Error("There is no model like that.");
  },
};

function read(text: string, path = "agents/reviewer.md") {
  const { file, problems } = readAgentFile(toResource(path, () => text));
  const { plan, problems: more } = planAgent(file, KNOWN);
  const all = [...problems, ...more];
  return { file, tools: plan.allowed, what: all.map(({ what }) => what), hint: all.map(({ hint }) => hint).join(" ") };
}

test.for([
  ["tools: [read, grep]", ["read", "grep"]],
  ["tools: Read, Grep", ["read", "grep"]],
  ["tools: read", ["read"]],
  ["tools: [read, read]", ["read"]],
  ["tools: []", []],
  ["tools:", []],
  ['tools: ""', []],
  ["description: x", undefined],
  ["packages: ['@pi-agent/tools']", ["read", "bash", "find", "grep"]],
  ["packages: []", []],
  ["packages: ['@pi-agent/tools']\ntools: [bash]", ["bash"]],
] as const)("F044 P14: %s gives the tools %j", ([frontmatter, tools]) => {
  expect(read(fileOf(frontmatter))).toMatchObject({ tools, what: [] });
});

test.for([
  ["allowed-tools: [read]", /the key "allowed-tools" is not known/, /`tools`/],
  ["allowedTools: read", /the key "allowedTools"/, /`tools`/],
  ["tool: read", /the key "tool"/, /`tools`/],
  ["Tools: [read]", /the key "Tools"/, /`tools`/],
  ["disallowedTools: bash", /the key "disallowedTools"/, /`tools`/],
  ["permissionMode: plan", /the key "permissionMode"/, /`tools`/],
  ["desciption: x", /the key "desciption"/, /Did you mean description\?/],
  ["color: blue\nhooks: {}", /"color" is not known; the key "hooks"/, /The keys are: name, description, model, tools/],
  ["tools: Read, Glob", /there is no tool "Glob"/, /The tools are: read, bash, find, grep/],
  ["tools: [raed]", /there is no tool "raed"/, /Did you mean read\?/],
  ["tools: [read, raed]", /there is no tool "raed"/, /Did you mean read\?/],
  ['tools: "*"', /there is no tool "\*"/, /leave `tools` out/],
  ["tools: [mcp__*]", /there is no tool "mcp__\*"/, /leave `tools` out/],
  ["tools: all", /there is no tool "all"/, /The tools are/],
  ["tools: Bash(git:*)", /there is no tool "Bash\(git:\*\)"/, /Write each name out/],
  ["tools: 5", /`tools` must be a list of names, and is "5"/, /tools: \[one, another\]; \[\] is none/],
  ["tools: true", /`tools` must be a list/, /without the key/],
  ["tools: { read: true }", /`tools` must be a list of names, and is a map/, /\[one, another\]/],
  ["tools: [[read]]", /`tools` must be a list of names, and is another list/, /\[one, another\]/],
  ["tools: [null]", /`tools` must be a list/, /\[one, another\]/],
  ["tools: [5]", /`tools` must be a list/, /\[one, another\]/],
  ["skills: [pfd]", /there is no skill "pfd"/, /Did you mean pdf\?/],
  ["packages: [pi-jira]", /no package "pi-jira" is loaded/, /pi install pi-jira/],
  ["packages: ['a; rm -rf ~']", /no package "a; rm -rf ~"/, /pi install <name>/],
  ["packages: []\ntools: [read]", /its tool read is of @pi-agent\/tools/, /Add the package/],
  ["model: nope", /its model: There is no model like that/, /provider\/id/],
  ["model: 4", /`model` must be a text, and is "4"/, /leave the key out/],
  ["thinking: hihg", /`thinking` must be one of off, .*, and is "hihg"/, /Did you mean high\?/],
  ["thinking: false", /`thinking` must be one of/, /leave thinking out/],
  ["name: true", /`name` must be a text, and is "true"/, /leave the key out/],
  ["name: critic", /it calls itself "critic"/, /name: reviewer/],
] as const)("F044: %s is an error that says what and what to do", ([frontmatter, what, hint]) => {
  const found = read(fileOf(frontmatter));
  expect(found.what.join("; ")).toMatch(what);
  expect(found.hint).toMatch(hint);
});

test("F044: all that is wrong with a file is told at once", () => {
  const { what } = read(fileOf("allowed-tools: [read]\ntools: [raed]\nmodel: 5\nname: x"));
  expect(what).toHaveLength(4);
});

test("F044: whatever is written in place of a list of tools, it never comes to tools that were not named", () => {
  const values = ["5", "-1.5", "true", "null", "~", '"*"', "'.*'", "{}", "{ read: }", "[[]]", "[{}]", "!!set { read }"];
  values.push("*", "&a [read]", "|\n  read\n  bash", ">-\n  raed", "2026-01-01", "read bash", "[read bash]", "..");
  for (const value of values) {
    const { tools, what } = read(fileOf(`tools: ${value}`));
    if (what.length === 0) expect([value, tools]).toEqual([value, value.includes("read") ? ["read"] : []]);
  }
});

test.for([
  ["no front matter", "You review."],
  ["a blank line before it", "\n---\ntools: [read]\n---\n"],
  ["no end of it", "---\ntools: [read]\n"],
  ["nothing in it", "---\n---\nYou review."],
  ["YAML that is broken", fileOf("tools: [read")],
  ["a key twice", fileOf("tools: [read]\ntools: [bash]")],
  ["UTF-16", Buffer.from(`\ufeff${fileOf("tools: [read]")}`, "utf16le").toString("utf8")],
])("F044 F046: a file with %s is an error, and no agent with all tools", ([, text]) => {
  expect(read(text!).what).toEqual(["it has no front matter that can be read"]);
});

test("F044: keys below a line that ends the front matter by mistake are not lost in silence", () => {
  const { what, hint } = read("---\ndescription: x\n---------\ntools: [read]\n---\nYou review.");
  expect(what[0]).toMatch(/its front matter ends with "---------"/);
  expect(hint).toContain("nothing else");
});

test.for(["\n", "\r\n"])(
  "F046: line ends %j, blanks after the fence and a missing last line end change nothing",
  (end) => {
    const text = ["---  ", "description: >-", "  Reviews", "  code", "tools: [read]", "--- ", "", "One.", "Two."].join(
      end,
    );
    const { file, tools, what } = read(text);
    expect({ what, tools }).toEqual({ what: [], tools: ["read"] });
    expect(file).toMatchObject({ name: "reviewer", description: "Reviews code", prompt: "One.\nTwo." });
    expect(read(`---${end}tools: []${end}---`)).toMatchObject({ what: [], tools: [] });
  },
);

test("F053: a name that is no word, or that means something else, is none", () => {
  expect(read(fileOf("tools: []"), "agents/off.md").what).toEqual(["no agent can be called off"]);
  expect(read(fileOf("tools: []"), "agents/a b\u001b[2J.md").what).toEqual(['"a b [2J" is no name for an agent']);
  expect(read(fileOf("tools: []"), "agents/-x.md").what).toHaveLength(1);
  expect(read(fileOf("name: prüfer-2"), "agents/prüfer-2.md").what).toEqual([]);
});
