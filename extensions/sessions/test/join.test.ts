import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { readSession } from "../src/read.ts";
import { tempFolder } from "./support.ts";

const child = fileURLToPath(new URL("./join-child.ts", import.meta.url));

/** A process that has begun the session; `say` resolves when it has said a text. */
async function begin(file: string) {
  const process_ = spawn(process.execPath, ["--conditions", "@pi-agent/source", child, file], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const closed = new Promise((resolve) => process_.once("close", resolve));
  onTestFinished(() => void process_.kill());
  const answers = createInterface({ input: process_.stdout })[Symbol.asyncIterator]();
  expect((await answers.next()).value).toBe("ready");
  return {
    async say(text: string) {
      process_.stdin.write(`${text}\n`);
      expect((await answers.next()).value).toBe(`said ${text}`);
    },
    async end() {
      process_.stdin.end();
      await closed;
    },
  };
}

test("S3 two processes that begin one new session lose nothing of either", async () => {
  const file = join(tempFolder(), "new.jsonl");
  const [one, other] = await Promise.all([begin(file), begin(file)]);
  await one.say("first of one");
  await other.say("first of other");
  await Promise.all([one.say("second of one"), other.say("second of other")]);
  await Promise.all([one.end(), other.end()]);

  const { entries, problems } = readSession(file)!;
  expect(problems).toEqual([]);
  expect(readFileSync(file, "utf8").match(/"type":"session"/g)).toHaveLength(1);
  const said = JSON.stringify(entries);
  for (const text of ["first of one", "first of other", "second of one", "second of other"])
    expect(said).toContain(text);
  expect(entries.filter((entry) => entry.type === "message" && entry.message.role === "assistant")).toHaveLength(4);
}, 60_000);
