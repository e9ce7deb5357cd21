import { existsSync } from "node:fs";
import { createAgent, headlessUi } from "@pi-agent/kernel";
import { scriptedProvider, tempProject } from "@pi-agent/testing";
import tools from "@pi-agent/tools";
import { expect, test } from "vitest";
import askBeforeDelete from "../src/index.ts";

/** Has the model run a shell command in a project with the file `keep.txt`; `answer` is the person's, if one is there. */
async function run(command: string, answer?: boolean) {
  await using project = await tempProject({ files: { "keep.txt": "keep" } });
  const asked: string[] = [];
  const confirm = async (_title: string, message: string) => {
    asked.push(message);
    return answer === true;
  };
  const person = { hasUI: true, ui: { ...headlessUi, confirm } };
  const provider = scriptedProvider([{ calls: [{ name: "bash", arguments: { command } }] }, { text: "Done." }]);
  const agent = createAgent({
    extensions: [tools, askBeforeDelete, provider],
    host: { cwd: project.path, ...(answer === undefined ? {} : person) },
  });
  const { messages, outcome } = await agent.run("Tidy up.");
  await agent.dispose();
  const result = messages.find((message) => message.role === "toolResult")!;
  return { asked, outcome, text: JSON.stringify(result.content), isKept: existsSync(`${project.path}/keep.txt`) };
}

test("where nobody can be asked the file stays, and the model is told why", async () => {
  const { isKept, text, outcome } = await run("rm keep.txt");
  expect({ isKept, outcome }).toEqual({ isKept: true, outcome: "done" });
  expect(text).toContain("nobody is here to allow that");
});

test("a person is shown the command; their no keeps the file, their yes runs it", async () => {
  const no = await run("rm keep.txt", false);
  expect(no).toMatchObject({ asked: ["rm keep.txt"], isKept: true });
  expect(no.text).toContain("the person said no");
  const yes = await run("rm keep.txt", true);
  expect(yes).toMatchObject({ asked: ["rm keep.txt"], isKept: false });
});

test("what deletes nothing runs unasked", async () => {
  expect(await run("cat keep.txt", false)).toMatchObject({
    asked: [],
    isKept: true,
    text: expect.stringContaining("keep"),
  });
});

const ASKS = [
  "rm -rf build",
  "cd x && rm y",
  "true; \\rm y",
  '"rm" y',
  "/bin/rm y",
  "sudo -u root rm y",
  "A=1 rm y",
  "ls | xargs -0 rm",
  "$(rm y)",
  "`rm y`",
  "sh -c 'rm y'",
  "if x\nthen rm y\nfi",
  "find . -name '*.o' -delete",
  "find . -exec rm {} +",
  "git clean -fdx",
  "git -C sub reset --hard HEAD~1",
  "git rm y",
  "rmdir y",
  "shred y",
  "dd if=/dev/zero of=y",
  "mkfs.ext4 /dev/sda1",
];
const PASSES = [
  "ls",
  "npm run farm",
  "cat rm.txt",
  "grep -r confirm .",
  "git reset --soft HEAD~1",
  "git diff; echo clean",
  "add x",
];

/** What the gate says to a call, where nobody can be asked. */
async function decide(toolName: string, command: string) {
  const agent = createAgent({ extensions: [askBeforeDelete] });
  await agent.ready();
  const call = { runId: "", turnIndex: 0, toolCallId: "1" };
  const answer = await agent.dispatch("tool_call", { ...call, toolName, input: { command } });
  await agent.dispose();
  return answer;
}

test.for(ASKS)("%j deletes", async (command) => {
  expect(await decide("bash", command)).toMatchObject({ block: true });
});

test.for(PASSES)("%j does not", async (command) => {
  expect(await decide("bash", command)).toBeUndefined();
});

test("only the shell is asked about", async () => {
  expect(await decide("read", "rm y")).toBeUndefined();
});
