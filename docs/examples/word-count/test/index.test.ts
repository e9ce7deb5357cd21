import { createAgent, type Extension } from "@pi-agent/kernel";
import { scriptedProvider, tempProject } from "@pi-agent/testing";
import { expect, test } from "vitest";
import wordCount from "../src/index.ts";

const FILES = { "two.txt": "one two\nthree\n", "empty.txt": "", "wide.txt": "naïve 😀" };

/** Runs one call of the tool, and answers its result. */
async function call(paths: unknown, more: Extension[] = []) {
  await using project = await tempProject({ files: FILES });
  const provider = scriptedProvider([
    { calls: [{ name: "word_count", arguments: { paths } as never }] },
    { text: "Done." },
  ]);
  const agent = createAgent({ extensions: [wordCount, provider, ...more], host: { cwd: project.path } });
  const { messages } = await agent.run("Count.");
  await agent.dispose();
  const result = messages.find((message) => message.role === "toolResult")!;
  return { ...result, text: result.content.map((block) => (block.type === "text" ? block.text : "")).join() };
}

test("files are counted in the order asked for, and the numbers are there as data too", async () => {
  const { text, details, isError } = await call(["two.txt", "empty.txt", "wide.txt"]);
  expect(isError).toBe(false);
  expect(text.split("\n")).toEqual([
    "two.txt: 2 lines, 3 words, 14 characters",
    "empty.txt: 0 lines, 0 words, 0 characters",
    "wide.txt: 1 lines, 2 words, 7 characters",
  ]);
  expect(details).toMatchObject([{ words: 3 }, { words: 0 }, { words: 2 }]);
});

test("a file that is not there is an error that says what to do", async () => {
  const { text, isError } = await call(["missing.txt"]);
  expect(isError).toBe(true);
  expect(text).toContain("missing.txt cannot be read: ENOENT");
  expect(text).toContain("Name a file that exists");
});

test("a call without files is not run, and the model is told why", async () => {
  const { text, isError } = await call([]);
  expect(isError).toBe(true);
  expect(text).toContain("paths");
});

test("gates are told the paths it reads, and it runs where only reading is allowed", async () => {
  const touched: unknown[] = [];
  const readOnly: Extension = (pi) => {
    pi.limitEffects({ ceiling: "read", reason: "the test" });
    pi.on("tool_call", ({ touches }) => void touched.push(touches));
  };
  const { isError } = await call(["two.txt"], [readOnly]);
  expect(isError).toBe(false);
  expect(touched).toEqual([{ read: [expect.stringMatching(/^\/.*\/two\.txt$/)], write: [] }]);
});
