import { lastResults, type Script } from "@pi-agent/testing";
import { WIRE_PROVIDERS } from "@pi-agent/testing/wire";
import { expect, test } from "vitest";
import { messagesOf, openWorkbench, readSessions } from "./workbench.ts";

const TASK: Script = [
  {
    thinking: "Both files first.",
    text: "I read both.",
    calls: [
      { name: "read", arguments: { path: "a.txt" } },
      { name: "read", arguments: { path: "b.txt" } },
    ],
  },
  { calls: [{ name: "edit", arguments: { path: "a.txt", edits: [{ oldText: "alpha", newText: "omega é" }] } }] },
  {
    thinking: "Now count.",
    calls: [{ name: "bash", arguments: { command: "wc -l < b.txt | tr -d ' ' > count.txt; echo counted" } }],
  },
  {
    calls: [
      { name: "write", arguments: { path: "notes/c.txt", content: "new\n" } },
      { name: "read", arguments: { path: "count.txt" } },
    ],
  },
  { thinking: "All is there.", text: "All done." },
];

test.for(WIRE_PROVIDERS)(
  "%s: a task of five turns with parallel calls, an edit and a shell command changes the files and answers",
  async (provider) => {
    await using bench = await openWorkbench(TASK, {
      files: { "a.txt": "first alpha\r\nsecond\r\n", "b.txt": "1\n2\n3\n" },
      git: true,
    });
    const { code, stdout, stderr } = await bench.pi(["-p", "Do it.", "--model", `${provider}/scripted`]).done;
    expect(bench.server.refusals()).toEqual([]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "All done.\n", stderr: "" });
    expect(await bench.read("a.txt")).toBe("first omega é\r\nsecond\r\n");
    expect(await bench.read("notes/c.txt")).toBe("new\n");
    expect(bench.server.requests).toHaveLength(5);
    const texts = bench.server.requests.map((request) => lastResults(request.neutral!).map((result) => result.text));
    expect(texts[1]).toEqual([expect.stringContaining("first alpha"), expect.stringContaining("3")]);
    expect(texts[3]).toEqual([expect.stringContaining("counted")]);
    expect(texts[4]).toEqual([expect.anything(), expect.stringContaining("3")]);
    const [session] = await readSessions(bench.agentDir);
    expect(messagesOf(session ?? []).at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
  },
);

test.for(WIRE_PROVIDERS)(
  "%s: a second start goes on with the session and the server takes its history",
  async (provider) => {
    await using bench = await openWorkbench([...TASK, { text: "Still here." }], {
      files: { "a.txt": "alpha\n", "b.txt": "1\n" },
    });
    await bench.pi(["-p", "Do it.", "--model", `${provider}/scripted`]).done;
    const { code, stdout } = await bench.pi(["-p", "-c", "And now?", "--model", `${provider}/scripted`]).done;
    expect(bench.server.refusals()).toEqual([]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Still here.\n" });
    expect(bench.server.requests.at(-1)?.neutral?.messages[0]).toMatchObject({ role: "user", text: "Do it." });
    expect(await readSessions(bench.agentDir)).toHaveLength(1);
  },
);

test("piped text becomes part of the prompt", async () => {
  await using bench = await openWorkbench([{ text: "Read." }]);
  const run = bench.pi(["-p", "Explain this.", "--model", "wire-chat/scripted"], { stdin: "piped words\n" });
  expect((await run.done).stdout).toBe("Read.\n");
  const text = bench.server.requests[0]?.neutral?.messages[0]?.text;
  expect(text).toContain("piped words");
  expect(text).toContain("Explain this.");
});

test.for([
  ["cut by the output limit", { text: "half of", stop: "length" }, "half of\n"],
  ["refused by the provider", { fail: { status: 400, body: { error: { message: "no such thing" } } } }, ""],
  ["broken off", { text: "some words and more words", fail: "end" }, undefined],
] as const)("an answer that is %s is exit code 1 and said on stderr", async ([, turn, stdout]) => {
  await using bench = await openWorkbench(() => turn);
  const result = await bench.ask("Go.").done;
  expect(result.code).toBe(1);
  expect(result.stderr).toMatch(/^(error|warning): /m);
  if (stdout !== undefined) expect(result.stdout).toBe(stdout);
});
