import { readFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readAgentFile } from "../src/agent-file.ts";
import { AGENT_SCHEMA } from "../src/agent-schema.ts";
import { project } from "./loading.ts";

const LEAST = { name: "reviewer", packages: {} };

function filesOf(files: Record<string, string | object>) {
  const texts = Object.entries(files).map(([name, content]) => {
    return [name, typeof content === "string" ? content : JSON.stringify(content, null, 2)] as const;
  });
  return project({ files: Object.fromEntries(texts) });
}

/** Reads an agent file that must be refused; answers its lines without the folder, and what to do. */
async function refusalOf(content: string | object, name = "agent.json"): Promise<string[]> {
  const { path } = await filesOf({ [name]: content });
  const thrown = await readAgentFile(join(path, name)).then(
    () => undefined,
    (error: unknown) => error as Error & { hint: string },
  );
  expect(thrown).toMatchObject({ code: "agent_file", hint: expect.stringMatching(/^(Mend|Name) /) });
  return thrown!.message.replaceAll(`${path}/`, "").split("\n");
}

test("P13: a file with every key is read as it stands, comments and all, its packages in the order written", async () => {
  const { path } = await filesOf({
    "agent.json": `{
      // what an editor goes by
      "$schema": "https://pi-agent.dev/schemas/agent.schema.json",
      "name": "reviewer",
      "description": "Reviews a change.",
      "model": "anthropic/claude-sonnet-5",
      "thinking": "high",
      "systemPromptFile": "texts/prompt.md",
      "packages": { "pi-z": true, "@pi-agent/tools": { "bash": false }, "./tools/x.ts": true, "../shared": true },
      "tools": ["read", "x"],
      "settings": { "retry": { "maxRetries": 1 }, "pi-z": { "any": 1 } },
      "maxTurns": 7,
    }`,
    "texts/prompt.md": "\uFEFFYou review.\n",
  });
  const file = join(path, "agent.json");
  expect(await readAgentFile(file)).toEqual({
    file,
    name: "reviewer",
    description: "Reviews a change.",
    model: "anthropic/claude-sonnet-5",
    thinking: "high",
    systemPrompt: "You review.",
    packages: [
      { name: "pi-z" },
      { name: "@pi-agent/tools", options: { bash: false } },
      { name: "./tools/x.ts" },
      { name: "../shared" },
    ],
    tools: ["read", "x"],
    settings: { retry: { maxRetries: 1 }, "pi-z": { any: 1 } },
    maxTurns: 7,
  });
});

test("P13: a folder is its agent.json, else its package.json; of that counts pi.agent alone", async () => {
  const manifest = { name: "my-agent", version: "1.0.0", pi: { extensions: ["./x.ts"], agent: LEAST } };
  const { path } = await filesOf({
    "both/agent.json": { ...LEAST, name: "nearer" },
    "both/package.json": manifest,
    "one/package.json": manifest,
  });
  expect(await readAgentFile(join(path, "both"))).toMatchObject({
    name: "nearer",
    file: join(path, "both/agent.json"),
  });
  expect(await readAgentFile(join(path, "one"))).toMatchObject({
    name: "reviewer",
    file: join(path, "one/package.json"),
  });
  expect(await readAgentFile(join(path, "one/package.json"))).toMatchObject({ name: "reviewer", packages: [] });
});

test("no tools is none, and tools left out is another thing (F044)", async () => {
  const { path } = await filesOf({ "none.json": { ...LEAST, tools: [] }, "usual.json": LEAST });
  expect((await readAgentFile(join(path, "none.json"))).tools).toEqual([]);
  expect((await readAgentFile(join(path, "usual.json"))).tools).toBeUndefined();
});

test.each<[string, object, string]>([
  ["allowed-tools", { "allowed-tools": ["read"] }, 'An agent has no "allowed-tools". Did you mean "tools"?'],
  ["tool", { tool: "read" }, 'An agent has no "tool". Did you mean "tools"?'],
  ["disallowedTools", { disallowedTools: ["bash"] }, 'An agent has no "disallowedTools". Did you mean "tools"?'],
  ["prompt", { prompt: "x" }, 'An agent has no "prompt". Did you mean "systemPrompt"?'],
  [
    "a key that is like none",
    { colour: 1 },
    `An agent has no "colour". It knows: ${Object.keys(AGENT_SCHEMA.properties).join(", ")}.`,
  ],
  ["tools as a text", { tools: "Read, Glob" }, '"tools" does not fit: expected an array, found a string.'],
  ["tools as null", { tools: null }, '"tools" does not fit: expected an array, found null.'],
  ["tools as a number", { tools: 5 }, '"tools" does not fit: expected an array, found 5.'],
  [
    "a tool that is no text",
    { tools: ["read", 5] },
    '"tools.1" does not fit: expected a string of at least 1 characters, found 5.',
  ],
  [
    "a level that there is not",
    { thinking: "hard" },
    '"thinking" does not fit: expected "off", "minimal", "low", "medium", "high", "xhigh", "max", found "hard".',
  ],
  ["no turns", { maxTurns: 0 }, '"maxTurns" does not fit: expected an integer from 1, found 0.'],
  [
    "a setting of the wrong type",
    { settings: { retry: { maxRetries: "many" } } },
    '"settings.retry.maxRetries" does not fit: expected an integer from 0, found a string.',
  ],
])("P13, F044: %s is an error, and never more than was meant", async (_, more, message) => {
  const [line, ...others] = await refusalOf({ ...LEAST, ...more });
  expect(others).toEqual([]);
  expect(line).toMatch(/^agent\.json:\d+:\d+: /);
  expect(line).toContain(message);
});

test("all that is wrong is told at once, each with its place", async () => {
  const text = `{\n  "name": "",\n  "packages": { "Upper": true, "x": false },\n  "tool": ["read"],\n  "systemPrompt": "a", "systemPromptFile": "b"\n}`;
  expect(await refusalOf(text)).toEqual([
    expect.stringMatching(/^agent\.json:2:11: "name" does not fit: /),
    expect.stringMatching(
      /^agent\.json:3:37: "packages\.x" does not fit: expected true or an object, found a boolean\.$/,
    ),
    'agent.json:4:11: An agent has no "tool". Did you mean "tools"?',
    expect.stringMatching(
      /^agent\.json:3:26: The package "Upper" has capital letters; write its name alone, or a path /,
    ),
    expect.stringMatching(
      /^agent\.json:5:\d+: "systemPrompt" and "systemPromptFile" say the same thing: leave one out\.$/,
    ),
  ]);
});

test("of a crowd of faults the first are told, and how many there are", async () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`key${at}`, 1]));
  const lines = await refusalOf({ ...LEAST, ...many });
  expect(lines).toHaveLength(21);
  expect(lines.at(-1)).toBe("… and 480 more.");
});

test("faults in package.json are told with their place in it", async () => {
  const text = `{\n  "name": "x",\n  "pi": { "agent": {\n    "name": "x"\n  } }\n}`;
  expect(await refusalOf(text, "package.json")).toEqual(['package.json:3:20: "packages" is missing.']);
});

test.each([
  ["a version", "pi-x@1.0.0"],
  ["an absolute path", "/etc/x.ts"],
  ["an option", "--registry"],
  ["the way out", ".."],
  ["a backslash", "./a\\b"],
  ["a character that cannot be seen", "./a\u202Eb"],
  ["an empty name", ""],
  ["__proto__", "__proto__"],
])("P10: %s is no package", async (_, name) => {
  const text = `{ "name": "x", "packages": { ${JSON.stringify(name)}: true } }`;
  const [line] = await refusalOf(text);
  expect(line).toContain("agent.json:1:");
  expect(line).not.toMatch(/[\u202E]/);
});

test("P8: the file of the prompt stays in the folder, by its name and by where a link leads", async () => {
  const files = await filesOf({
    "secret.txt": "secret",
    "in/agent.json": { ...LEAST, systemPromptFile: "link.md" },
  });
  const { path } = files;
  await symlink(join(path, "secret.txt"), join(path, "in/link.md"));
  const asked = () => readAgentFile(join(path, "in"));
  await expect(asked()).rejects.toThrow("it leaves the folder of the agent.");
  for (const [name, why] of [
    ["../secret.txt", "leaves the folder of the agent"],
    [join(path, "secret.txt"), "leaves the folder of the agent"],
    ["missing.md", "is not there"],
    [".", "is not a regular file"],
  ] as const) {
    await files.write("in/agent.json", JSON.stringify({ ...LEAST, systemPromptFile: name }));
    await expect(asked(), name).rejects.toThrow(`cannot be used: it ${why}.`);
  }
  await files.write("in/broken.md", Buffer.from([0xff, 0xfe]));
  await files.write("in/agent.json", JSON.stringify({ ...LEAST, systemPromptFile: "broken.md" }));
  await expect(asked()).rejects.toThrow("it is not text in UTF-8.");
});

test("what is not there, is no JSON, or describes no agent, says what to name instead", async () => {
  const { path } = await filesOf({ "package.json": { name: "x" } });
  await mkdir(join(path, "empty"));
  const refusal = (name: string) => readAgentFile(join(path, name)).then(String, (error: Error) => error.message);
  expect(await refusal("gone.json")).toBe(`There is nothing at ${path}/gone.json.`);
  expect(await refusal("empty")).toBe(`${path}/empty holds neither agent.json nor package.json.`);
  expect(await refusal("package.json")).toBe(`${path}/package.json describes no agent: it has no "pi.agent".`);
  expect(await refusalOf('{ "name": "x",\n "packages" }')).toEqual([
    'agent.json:2:13: It is not valid JSON: expected ":", found "}".',
  ]);
  expect(await refusalOf("[]")).toEqual(["agent.json:1:1: It is not valid JSON: expected an object in braces."]);
});

test("the published schema is the one that files are read with", () => {
  const { $schema, $id, title, description, not, ...published } = JSON.parse(
    readFileSync(new URL("../../agent.schema.json", import.meta.url), "utf8"),
  ) as Record<string, unknown>;
  expect(published).toEqual(AGENT_SCHEMA);
  // Of the two keys only one may be there, which the code says in its own words.
  expect(not).toEqual({ required: ["systemPrompt", "systemPromptFile"] });
  expect([$schema, $id, title, description].every((text) => typeof text === "string")).toBe(true);
});
