import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "@pi-agent/kernel";
import { expect, onTestFinished, test } from "vitest";
import type { ChangingHost } from "../src/conversation-commands.ts";
import { runConversation } from "../src/conversation-mode.ts";
import type { Exit } from "../src/exit.ts";
import type { TrustTarget } from "../src/trust/perform.ts";
import { CTRL_C, CTRL_D, createFakeTerminal } from "./fake-terminal.ts";
import { type Answer, createScriptedAgent } from "./scripted-agent.ts";
import { item, plan } from "./trust/planned.ts";

function converse(
  answers: Answer[],
  options: { agent?: Agent; first?: string; host?: ChangingHost } & Partial<TrustTarget> = {},
) {
  const screen = createFakeTerminal();
  let interrupt: (() => void) | undefined;
  const exit: Exit = {
    signal: new AbortController().signal,
    before: () => {},
    onInterrupt: (action) => {
      interrupt = action;
      return () => (interrupt = undefined);
    },
    end: () => new Promise(() => {}),
  };
  const agent = options.agent ?? createScriptedAgent(answers);
  const code = runConversation({
    agent,
    report: options.report ?? ({} as never),
    trust: options.trust ?? ({} as never),
    host: options.host ?? { reload: async () => {}, newSession: async () => ({ cancelled: false }) },
    terminal: screen.terminal,
    output: {
      stream: screen.output as never,
      write: (text) => screen.output.write(text),
      ready: () => undefined,
      flush: async () => {},
    },
    exit,
    prompts: options.first === undefined ? [] : [{ text: options.first, images: [] }],
  }).finally(() => void agent.dispose());
  return { ...screen, code, agent, pressCtrlC: () => interrupt?.() };
}

test("a conversation asks, answers, and ends with /quit", async () => {
  const { sees, type, code } = converse(["Hello to you."]);
  await sees("> ");
  type("hello\r");
  await sees("Hello to you.\n");
  await sees("> ");
  type("/quit\r");
  expect(await code).toBe(0);
});

test("words on the command line are the first prompt", async () => {
  const { sees, type, code } = converse(["At once."], { first: "go" });
  await sees("At once.");
  await sees("> ");
  type(CTRL_D);
  expect(await code).toBe(0);
});

test("each step is one line", async () => {
  const agent = createScriptedAgent(
    [
      { content: [{ type: "toolCall", id: "1", name: "look", arguments: { path: "a\nb" } }], stopReason: "toolUse" },
      "Done.",
    ],
    {
      extensions: [
        (pi) => {
          pi.registerTool({
            name: "look",
            description: "Looks.",
            parameters: { type: "object", properties: {} } as never,
            execute: async () => ({ content: [{ type: "text", text: "no\nluck" }], isError: true }),
          });
        },
      ],
    },
  );
  const { sees, type, code } = converse([], { agent, first: "look" });
  await sees("• look a b");
  await sees("! look failed: no luck");
  await sees("Done.");
  await sees("> ");
  type(CTRL_D);
  expect(await code).toBe(0);
});

test("Ctrl-C stops a run and not the conversation; a second one leaves", async () => {
  let isStopped = false;
  const started = Promise.withResolvers<void>();
  const agent = createScriptedAgent(
    [{ content: [{ type: "toolCall", id: "1", name: "wait", arguments: {} }], stopReason: "toolUse" }],
    {
      extensions: [
        (pi) => {
          pi.registerTool({
            name: "wait",
            description: "Waits.",
            parameters: { type: "object", properties: {} } as never,
            execute: (_id, _args, signal) =>
              new Promise((_resolve, reject) => {
                started.resolve();
                signal.addEventListener("abort", () => {
                  isStopped = true;
                  reject(new Error("stopped"));
                });
              }),
          });
        },
      ],
    },
  );
  const { sees, type, code, pressCtrlC } = converse([], { agent, first: "wait" });
  await started.promise;
  pressCtrlC();
  await sees("(stopped; Ctrl-C again leaves)");
  await sees("> ");
  expect(isStopped).toBe(true);
  type(CTRL_C);
  expect(await code).toBe(0);
});

test("Ctrl-C at the question leaves when it is pressed twice", async () => {
  const { sees, type, code } = converse([]);
  await sees("> ");
  type(CTRL_C);
  await sees("(Ctrl-C again, or Ctrl-D, leaves)");
  await sees("> ");
  type(CTRL_C);
  expect(await code).toBe(0);
});

test("a failure does not end the conversation", async () => {
  const { sees, type, code } = converse([{ stopReason: "error", errorMessage: "broken", failure: { kind: "server" } }]);
  await sees("> ");
  type("hello\r");
  await sees("> ");
  type("/quit\r");
  expect(await code).toBe(0);
});

test("F145: the end of input while a run goes on ends the conversation after the run", async () => {
  const { sees, endInput, code, agent } = converse(["The whole answer."], { first: "go" });
  await endInput();
  await sees("The whole answer.");
  expect(await code).toBe(0);
  expect(agent.transcript.project().at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
});

test("/reload and /new change the agent, tell what fails, and are not sent to the model", async () => {
  const done: string[] = [];
  const host: ChangingHost = {
    reload: async () => void done.push("reload"),
    newSession: () => Promise.reject(new Error("The disk is full.")),
  };
  const { sees, type, code, agent } = converse([], { host });
  await sees("> ");
  type("/reload\r");
  await sees("Reloaded.");
  type("/new\r");
  type("/quit\r");
  expect(await code).toBe(0);
  expect(done).toEqual(["reload"]);
  expect(agent.transcript.size).toBe(0);
});

test("an unknown command is told with the nearest one and never sent to the model; /help lists what there is", async () => {
  const agent = createScriptedAgent(["Answer of the model."], {
    extensions: [
      (pi) => {
        pi.registerCommand("review", { description: "Looks at the last change", handler: () => {} });
        pi.registerCommand("plan", { expand: (args) => `Plan: ${args}` });
        pi.on("input", ({ text }) => (text === "/mine" ? { action: "transform", text: "mine alone" } : undefined));
      },
    ],
  });
  const { sees, type, code } = converse([], { agent });
  const sent = () => agent.transcript.project().filter(({ role }) => role === "user");
  await sees("> ");
  type("/reviw now\r");
  await sees("> ");
  expect(sent()).toEqual([]);
  type("/help\r");
  await sees("/help");
  await sees("/quit, /exit");
  await sees("/review");
  await sees("Looks at the last change");
  await sees("> ");
  type("/plan it\r");
  await sees("Answer of the model.");
  await sees("> ");
  type("/mine\r");
  await sees("> ");
  type("/etc is what?\r");
  await sees("> ");
  expect(sent().map(({ content }) => content)).toEqual(["Plan: it", "mine alone", "/etc is what?"]);
  type("/quit\r");
  expect(await code).toBe(0);
});

/** A project with one extension that waits, and what was said about it. */
function project() {
  const folder = mkdtempSync(join(tmpdir(), "pi-agent-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const id = "extension:.pi/extensions/a.ts";
  const items = [item("executable", id, { path: join(folder, ".pi/extensions/a.ts") })];
  const asked = plan(items, { project: folder, cwd: folder });
  const said: unknown[] = [];
  const trust: TrustTarget["trust"] = {
    decide: async (...words) => {
      said.push(words);
      return { plan: asked };
    },
    forget: async () => {
      said.push("forget");
      return { plan: asked, wasKnown: true };
    },
  };
  const report = {
    plan: asked,
    agentDir: join(folder, "agent"),
    decision: "untrusted",
    decidedBy: "nobody",
    problems: [],
  } as unknown as TrustTarget["report"];
  return { folder, id, said, report, trust };
}

test("T10: /trust no is said at once, /trust yes takes one resource, and none of it reaches the model", async () => {
  const { id, said, report, trust } = project();
  const { sees, type, code, agent } = converse([], { report, trust });
  await sees("> ");
  type("/trust yes .pi/extensions/a.ts\r");
  await sees("Trusted as it is now: extension .pi/extensions/a.ts");
  type("/trust no\r");
  await sees("Loaded now: nothing");
  type("/trust forget\r/quit\r");
  expect(await code).toBe(0);
  expect(said).toEqual([["content", { only: id, below: false }], ["never", { below: false }], "forget"]);
  expect(agent.transcript.size).toBe(0);
});

test("T3: /trust alone tells how things stand and asks anew, about what it shows; Enter leaves them", async () => {
  const { folder, said, report, trust } = project();
  const { sees, type, code } = converse([], { report, trust });
  await sees("> ");
  type("/trust\r");
  await sees(`project    ${folder}`);
  await sees("What may load of this project?");
  await sees("Number: ");
  type("\r");
  await sees("Left as it was");
  await sees("> ");
  type("/trust\r");
  await sees("Number: ");
  type("2\r");
  await sees("Its texts are trusted as they are now");
  type("/quit\r");
  expect(await code).toBe(0);
  expect(said).toEqual([["text", { digest: "sha256-all" }]]);
});

test("T4: an extension's command of the name trust does not take /trust, and a slip of it is told", async () => {
  const agent = createScriptedAgent([], {
    extensions: [(pi) => void pi.registerCommand("trust", { handler: () => void said.push("taken") })],
  });
  const { said, report, trust } = project();
  const { sees, type, code } = converse([], { agent, report, trust });
  await sees("> ");
  type("/trust no\r");
  await sees("Not trusted");
  type("/trust /elsewhere\r/help\r");
  await sees("/trust");
  type("/quit\r");
  expect(await code).toBe(0);
  expect(said).toEqual([["never", { below: false }]]);
});
