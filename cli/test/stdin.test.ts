import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { readStdin, type StdinOptions } from "../src/stdin.ts";

function pipe(options: Partial<StdinOptions> = {}) {
  const stdin = new PassThrough();
  const notices: string[] = [];
  const notified = Promise.withResolvers<void>();
  const text = readStdin({
    stdin: stdin as never,
    hasPrompt: true,
    notify: (message) => {
      notices.push(message);
      notified.resolve();
    },
    noticeMs: 10,
    giveUpMs: 60_000,
    ...options,
  });
  return { stdin, notices, text, notified: notified.promise };
}

test("F136: with a prompt, a silent open pipe is told and then left behind", async () => {
  const { text, notices } = pipe({ giveUpMs: 40 });
  expect(await text).toEqual({ text: "" });
  expect(notices).toEqual(["waiting for standard input; going on without it in 0.03 s (skip this with: < /dev/null)"]);
});

test("F136: without a prompt, the pipe is the prompt and is waited for, not in silence", async () => {
  const { stdin, text, notices, notified } = pipe({ hasPrompt: false, giveUpMs: 1 });
  await notified;
  stdin.end("the prompt");
  expect(await text).toEqual({ text: "the prompt" });
  expect(notices).toEqual(["waiting for a prompt on standard input"]);
});

test("F136: once something came, all of it is read, however slow", async () => {
  const { stdin, text, notices, notified } = pipe({ noticeMs: 30, giveUpMs: 20 });
  stdin.write("one ");
  await notified;
  stdin.end("two");
  expect(await text).toEqual({ text: "one two" });
  expect(notices).toEqual(["still reading standard input"]);
});

test("what was piped is trimmed, and letters cut between chunks are whole", async () => {
  const { stdin, text } = pipe();
  const bytes = Buffer.from("  grün\n");
  stdin.write(bytes.subarray(0, 5));
  stdin.end(bytes.subarray(5));
  expect(await text).toEqual({ text: "grün" });
});

test("F136: 50 MB are read whole", async () => {
  const { stdin, text } = pipe();
  const chunk = Buffer.alloc(1 << 20, "x");
  for (let i = 0; i < 50; i++) if (!stdin.write(chunk)) await new Promise((resolve) => stdin.once("drain", resolve));
  stdin.end();
  expect((await text).text.length).toBe(50 << 20);
});

test("F136: a pipe that cannot be read is told and is no end", async () => {
  const { stdin, text, notices } = pipe();
  stdin.destroy(new Error("EISDIR"));
  expect(await text).toEqual({ text: "" });
  expect(notices).toEqual(["standard input cannot be read: EISDIR"]);
});

test("a terminal is not read", async () => {
  expect(await readStdin({ stdin: { isTTY: true } as never, hasPrompt: true, notify: () => {} })).toEqual({ text: "" });
});

test("a signal ends the wait", async () => {
  const controller = new AbortController();
  const { text } = pipe({ signal: controller.signal });
  controller.abort();
  expect(await text).toEqual({ text: "" });
});

test("what is no text is refused with the reason, before it is read to its end", async () => {
  const { stdin, text } = pipe();
  stdin.write(Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1]));
  const { text: kept, problem } = await text;
  expect(kept).toBe("");
  expect(problem).toMatchObject({ why: expect.stringContaining("zero bytes"), hint: expect.stringContaining("file") });
});
