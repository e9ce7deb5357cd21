import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Agent, createAgent, type Extension, type Host } from "@pi-agent/kernel";
import { scriptedProvider } from "@pi-agent/testing";
import { expect, onTestFinished, test } from "vitest";
import tools, { type UserCommandOptions, type UserCommandResult } from "../src/index.ts";
import { commandLineOf } from "./living.ts";
import { tempFolder } from "./tool-call.ts";

const RESULT: UserCommandResult = { output: "from elsewhere", exitCode: 3, cancelled: false, truncated: false };

async function agentWith(extensions: Extension[] = [], host: Partial<Host> = {}) {
  const agent = createAgent({ extensions: [scriptedProvider([{ text: "done" }]), tools, ...extensions], host });
  onTestFinished(async () => void (await agent.dispose()));
  await agent.ready();
  return agent;
}

function run(agent: Agent, command: string, given: Partial<UserCommandOptions> = {}) {
  return agent.service("shell")!.run(command, { cwd: tempFolder(), ...given });
}

/** Answers the gate. */
const answering =
  (answer: unknown): Extension =>
  (pi) =>
    void pi.on("user_bash", () => answer as never);

const stored = (agent: Agent) =>
  agent.transcript.path().flatMap((entry) => {
    return entry.type === "message" && entry.message.role === "bashExecution" ? [entry.message] : [];
  });

test("E11 a command of the person runs on the real kernel, and the model is told with the next prompt", async () => {
  const agent = await agentWith();
  const updates: string[] = [];
  const message = await run(agent, "echo out; sleep 0.3; echo err >&2; exit 4", {
    onUpdate: (text) => updates.push(text),
  });
  expect(message).toMatchObject({ role: "bashExecution", output: "out\nerr\n", exitCode: 4, cancelled: false });
  expect(updates).toContain("out\n");
  expect(stored(agent)).toEqual([message]);
  expect(agent.transcript.project()).toMatchObject([{ role: "user", content: expect.stringContaining("out\nerr") }]);
});

test("what is excluded from the context is kept, and the model is not told", async () => {
  const agent = await agentWith();
  await run(agent, "echo secret", { excludeFromContext: true });
  expect(stored(agent)).toMatchObject([{ output: "secret\n", excludeFromContext: true }]);
  expect(agent.transcript.project()).toEqual([]);
});

test("a command gets the shell prefix, no secrets, and is told nothing of the session", async () => {
  process.env.SOME_PROVIDER_KEY = "secret";
  process.env.PI_MODEL = "inherited";
  onTestFinished(() => {
    delete process.env.SOME_PROVIDER_KEY;
    delete process.env.PI_MODEL;
  });
  const settings: Host["settings"] = {
    get: (key) => (key === "shellCommandPrefix" ? "x=prefixed" : undefined),
    set: async () => {},
    onChange: () => () => {},
  };
  const agent = await agentWith([], {
    settings,
    credentials: { names: () => ["SOME_PROVIDER_KEY"], resolve: async () => ({}) },
  });
  const { output } = await run(agent, 'echo "$x [$SOME_PROVIDER_KEY] [$PI_MODEL] [$PI_SESSION_ID]"');
  expect(output).toBe("prefixed [] [] []\n");
});

test("an abort ends the command with all that it started, and is a result", async () => {
  const agent = await agentWith();
  const controller = new AbortController();
  const onUpdate = () => controller.abort();
  const message = await run(agent, "echo $$; sleep 6174", { signal: controller.signal, onUpdate });
  expect(message).toMatchObject({ cancelled: true, output: expect.stringMatching(/^\d+\n$/) });
  expect(message).not.toHaveProperty("exitCode");
  expect(commandLineOf(Number(message.output))).toBeUndefined();
  expect(await run(agent, "touch never", { signal: AbortSignal.abort() })).toMatchObject({ cancelled: true });
  expect(stored(agent)).toHaveLength(2);
});

test("a long output is kept whole in a file that is named", async () => {
  const agent = await agentWith();
  const message = await run(agent, "seq 1 5000");
  expect(message.truncated).toBe(true);
  expect(message.output).toMatch(/^3001\n/);
  onTestFinished(() => rmSync(message.fullOutputPath!));
  expect(readFileSync(message.fullOutputPath!, "utf8")).toMatch(/^1\n[^]*\n5000\n$/);
});

test("a command that cannot be started fails, and nothing is kept", async () => {
  const agent = await agentWith();
  await expect(run(agent, "true", { cwd: "/no/such/folder" })).rejects.toMatchObject({ code: "no_directory" });
  expect(stored(agent)).toEqual([]);
});

test("user_bash knows the command, and a handler may say itself what came of it", async () => {
  const events: object[] = [];
  const agent = await agentWith([
    (pi) => void pi.on("user_bash", (event) => void events.push({ ...event })),
    answering({ result: RESULT }),
  ]);
  const cwd = tempFolder();
  const message = await run(agent, "make", { cwd, excludeFromContext: true });
  expect(events).toEqual([{ type: "user_bash", command: "make", excludeFromContext: true, cwd }]);
  expect(message).toMatchObject({ command: "make", ...RESULT });
  expect(stored(agent)).toEqual([message]);
});

test("user_bash may have the command run elsewhere", async () => {
  const operations = {
    async run(
      command: string,
      { cwd, onOutput }: { cwd: string; onOutput: (bytes: Uint8Array, stream: "stdout") => void },
    ) {
      onOutput(Buffer.from(`ran ${command} in ${cwd}\n`), "stdout");
      return { code: 0, background: [], survivors: [] };
    },
  };
  const agent = await agentWith([answering({ operations })]);
  expect(await run(agent, "make", { cwd: "/there" })).toMatchObject({ output: "ran make in /there\n", exitCode: 0 });
});

test.each([
  ["both", { operations: { run: () => {} }, result: RESULT }],
  ["neither", {}],
  ["a result without its output", { result: { cancelled: false, truncated: false } }],
  ["a text", "no"],
  ["operations that cannot run", { operations: {} }],
])("K13 an answer of user_bash that is %s blocks the command", async (_name, answer) => {
  const agent = await agentWith([answering(answer)]);
  const cwd = tempFolder();
  await expect(run(agent, "touch ran", { cwd })).rejects.toMatchObject({ code: "user_bash_refused" });
  expect(() => readFileSync(join(cwd, "ran"))).toThrow("ENOENT");
  expect(stored(agent)).toEqual([]);
});

test("K13 a handler of user_bash that throws blocks the command, whatever the others answer", async () => {
  const throws: Extension = (pi) =>
    void pi.on("user_bash", () => {
      throw new Error("no");
    });
  const agent = await agentWith([throws, answering({ result: RESULT })]);
  await expect(run(agent, "true")).rejects.toMatchObject({
    code: "user_bash_refused",
    message: expect.stringContaining("throws failed"),
    hint: expect.any(String),
  });
});

test("a refusal of user_bash says why, and no later handler is asked", async () => {
  const agent = await agentWith([answering({ block: true, reason: "not on Sundays" }), answering({ result: RESULT })]);
  await expect(run(agent, "true")).rejects.toThrow("The command was not run: not on Sundays");
});

test("what comes of a command during a run is appended when the run has settled", async () => {
  const cwd = tempFolder();
  let during: unknown[] = [];
  const looks: Extension = (pi) => {
    pi.registerTool({
      name: "look",
      description: "Runs a command of the person.",
      parameters: { type: "object", properties: {} },
      async execute() {
        await run(agent, "echo meanwhile", { cwd });
        during = stored(agent);
        return { content: [] };
      },
    });
  };
  const agent: Agent = createAgent({
    extensions: [scriptedProvider([{ calls: [{ name: "look", arguments: {} }] }, { text: "done" }]), tools, looks],
  });
  onTestFinished(async () => void (await agent.dispose()));
  await agent.input("go");
  await agent.settled();
  expect(during).toEqual([]);
  expect(stored(agent)).toMatchObject([{ output: "meanwhile\n" }]);
  expect(agent.transcript.project().map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "toolResult",
    "assistant",
    "user",
  ]);
});

test("disposing ends the commands of the person, and what they left running", async () => {
  const agent = await agentWith();
  const cwd = tempFolder();
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const running = run(agent, "echo $$ > pid; echo started; sleep 6175", {
    cwd,
    onUpdate: () => resolve(),
  });
  const left = await run(agent, "sleep 6176 & echo $! > left", { cwd });
  expect(left.output).toContain("[Still running in the background:");
  await started;
  expect(await agent.dispose()).toEqual({ leaks: [] });
  expect(await running).toMatchObject({ cancelled: true });
  for (const name of ["pid", "left"])
    expect(commandLineOf(Number(readFileSync(join(cwd, name), "utf8")))).toBeUndefined();
});
