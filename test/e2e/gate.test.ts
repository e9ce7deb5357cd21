/** The loader's gate, over the real file tools and over tools of anybody else's. */
import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Worker } from "node:worker_threads";
import type { Agent, Extension, ExtensionEntry, JsonObject } from "@pi-agent/kernel";
import type { LoadMode } from "@pi-agent/loader";
import { SCRIPTED_MODEL, scriptedProvider, type TempProjectOptions } from "@pi-agent/testing";
import tools from "@pi-agent/tools";
import { expect, onTestFinished, test } from "vitest";
import { type LoadedAgent, loadAgent } from "./reload-agent.ts";

interface Answered {
  text: string;
  isError: boolean;
}
interface Person {
  mode: LoadMode;
  /** Titles and messages of the questions. */
  questions: string[];
}

const TOOLS: ExtensionEntry = { owner: { name: "@pi-agent/tools", scope: "official" }, extension: tools as never };

/** A person in front of a user interface who answers every `confirm` so. */
function person(answer: unknown, trust: string = "not-now"): Person {
  const questions: string[] = [];
  const nothing = async () => undefined;
  const confirm = async (title: string, message: string) => {
    questions.push(`${title} ${message}`);
    if (answer instanceof Error) throw answer;
    return answer as boolean;
  };
  const quiet = {
    notify: () => {},
    setStatus: () => {},
    setWidget: () => {},
    setTitle: () => {},
    setEditorText: () => {},
  };
  const ui = { select: nothing, input: nothing, editor: nothing, custom: nothing, confirm, ...quiet };
  return { mode: { name: "tui", hasUI: true, ui, askTrust: () => trust }, questions };
}

interface Bench extends LoadedAgent {
  /** Lets the model make one call, and answers what it got to see. */
  call(name: string, args: JsonObject): Promise<Answered>;
}

async function bench(
  files: TempProjectOptions = {},
  { mode, official = [] }: { mode?: LoadMode; official?: ExtensionEntry[] } = {},
): Promise<Bench> {
  let next: { name: string; arguments: JsonObject } | undefined;
  const script = () => {
    const calls = next ? [next] : [];
    next = undefined;
    return calls.length > 0 ? { calls } : { text: "Done." };
  };
  const made = await loadAgent(files, { script, official: [TOOLS, ...official], options: mode ? { mode } : {} });
  return {
    ...made,
    async call(name, args) {
      next = { name, arguments: args };
      await made.ask("Go.");
      return lastResult(made.agent);
    },
  };
}

function lastResult(agent: Agent): Answered {
  const messages = agent.transcript.path().flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  const result = messages.findLast(({ role }) => role === "toolResult");
  if (result?.role !== "toolResult") throw new Error("no tool was called");
  const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  return { text, isError: result.isError };
}

/** A path as a test writes it: `~` is the agent directory, `^` the home. */
function at({ agentDir, home, path }: LoadedAgent, place: string): string {
  return resolve(path, place.replace(/^~/, agentDir).replace(/^\^/, home));
}

const PROTECTED = [
  "~/trust.json",
  "~/trust.d/x.json",
  "~/cache/approved/x",
  "~/cache/transform/x",
  "~/settings.json",
  "~/models.json",
  "~/auth.json",
  "~/keybindings.json",
  "~/extensions/x.ts",
  "~/skills/x/SKILL.md",
  "~/prompts/x.md",
  "~/agents/x.json",
  "~/AGENTS.md",
  "~/pi.lock.json",
  "^/.agents/skills/x/SKILL.md",
  ".pi/settings.json",
  ".pi/extensions/x.ts",
  ".pi/new/and/deep.ts",
  ".agents/skills/x/SKILL.md",
  "packages/inner/.pi/extensions/x.ts",
  ".git/hooks/post-checkout",
  ".git/config",
  ".git",
  "pi.lock.json",
  ".envrc",
  ".npmrc",
  ".vscode/tasks.json",
  "src/../.pi/extensions/x.ts",
  "./src/.././/.pi/./extensions/x.ts",
  ".PI/extensions/x.ts",
];

test.each(PROTECTED)(
  "E9, attack 42: %s is not made where nobody is there to ask, and the model is told why",
  async (place) => {
    const project = await bench();
    const { text, isError } = await project.call("write", { path: at(project, place), content: "mine" });
    expect(isError).toBe(true);
    expect(text).toMatch(
      /^Nothing was written to \/.+, which .+ only when the person agrees, and nobody is there to ask\./,
    );
    expect(text).toContain("Tell the person what is to be written there");
    expect(existsSync(at(project, place))).toBe(false);
  },
);

test("E9: with the person's agreement it is written, and the question names the tool, the real path and what is there", async () => {
  const { mode, questions } = person(true);
  const project = await bench({}, { mode });
  for (const place of PROTECTED.filter((each) => each !== ".git")) {
    const path = at(project, place);
    questions.length = 0;
    expect(await project.call("write", { path, content: "mine" }), place).toMatchObject({ isError: false });
    expect(readFileSync(path, "utf8"), place).toBe("mine");
    expect(questions, place).toEqual([expect.stringContaining(`May the tool write write to ${path}? It `)]);
  }
});

test.each([false, undefined, "yes", 1, { confirmed: true }, new Error("the terminal went away")])(
  "E9: whatever is not a plain yes is none (%j)",
  async (answer) => {
    const { mode } = person(answer);
    const project = await bench({ agentFiles: { "settings.json": "{}" } }, { mode });
    const path = join(project.agentDir, "settings.json");
    const { isError } = await project.call("write", { path, content: '{ "defaultProjectTrust": "always" }' });
    expect(isError).toBe(true);
    expect(readFileSync(path, "utf8")).toBe("{}");
  },
);

test("E9: edit is held to the same, and a yes is for one call", async () => {
  const { mode, questions } = person(true);
  const project = await bench({ agentFiles: { "settings.json": '{ "theme": "dark" }' } }, { mode });
  const args = { path: join(project.agentDir, "settings.json") };
  await project.call("edit", { ...args, edits: [{ oldText: "dark", newText: "light" }] });
  await project.call("edit", { ...args, edits: [{ oldText: "light", newText: "dark" }] });
  expect(questions).toHaveLength(2);
  const headless = await bench({ agentFiles: { "settings.json": '{ "theme": "dark" }' } });
  const path = join(headless.agentDir, "settings.json");
  await headless.call("edit", { path, edits: [{ oldText: "dark", newText: "light" }] });
  expect(readFileSync(path, "utf8")).toContain("dark");
});

test.each([
  "src/a.ts",
  ".github/workflows/a.yml",
  ".gitignore",
  ".pirate/a",
  "tasks.json",
  ".vscode/settings.json",
  "docs/pi.lock.json.md",
  "AGENTS.md",
])("E9: %s is written without a question (control)", async (place) => {
  const { mode, questions } = person(false);
  const project = await bench({}, { mode });
  expect(await project.call("write", { path: place, content: "x" })).toMatchObject({ isError: false });
  expect(questions).toEqual([]);
});

test("E9: a repository that itself lies below such a name is worked in without a question, but for its own", async () => {
  const { mode, questions } = person(false);
  const project = await bench({ files: { ".git/x": "" } }, { mode });
  const worktree = join(project.path, ".git", "trees", "one");
  await project.write(join(worktree, ".git"), "gitdir: elsewhere");
  const there = await loadAgent({}, { options: { cwd: worktree, mode }, official: [TOOLS] });
  const { gate } = there.host as unknown as { gate: { refusalOf(id: string, path: string): string | undefined } };
  expect(gate.refusalOf("x", join(worktree, "src/a.ts"))).toBeUndefined();
  expect(gate.refusalOf("x", join(worktree, ".pi/settings.json"))).toContain("holds what a project loads");
  expect(gate.refusalOf("x", join(project.path, ".git/config"))).toContain("what git runs");
  expect(questions).toEqual([]);
});

/** Each makes a way to a protected file, and answers the path that the model writes to and the file that must stay. */
const LADDERS: [string, (project: Bench) => [path: string, file: string]][] = [
  [
    "a link to the person's settings",
    (p) => (symlinkSync(join(p.agentDir, "settings.json"), at(p, "notes")), ["notes", at(p, "~/settings.json")]),
  ],
  [
    "a link to what is not there yet",
    (p) => (symlinkSync(join(p.agentDir, "trust.json"), at(p, "notes")), ["notes", at(p, "~/trust.json")]),
  ],
  [
    "a link to a folder",
    (p) => (symlinkSync(p.agentDir, at(p, "notes")), ["notes/extensions/x.ts", at(p, "~/extensions/x.ts")]),
  ],
  [
    "a link to a link to a folder that is not there yet",
    (p) => {
      symlinkSync("two", at(p, "one"));
      symlinkSync(join(p.agentDir, "extensions"), at(p, "two"));
      return ["one/x.ts", at(p, "~/extensions/x.ts")];
    },
  ],
  [
    "a link whose target climbs out with ..",
    (p) => (symlinkSync("../home/.pi/agent", at(p, "notes")), ["notes/auth.json", at(p, "~/auth.json")]),
  ],
  ["a relative path that climbs out", (p) => ["../home/.pi/agent/auth.json", at(p, "~/auth.json")]],
  [
    "a hard link to the person's settings",
    (p) => (linkSync(at(p, "~/settings.json"), at(p, "notes")), ["notes", at(p, "~/settings.json")]),
  ],
  [
    "a hard link to a file deep in the person's folder",
    (p) => (linkSync(at(p, "~/trust.d/one.json"), at(p, "notes")), ["notes", at(p, "~/trust.d/one.json")]),
  ],
  [
    "a hard link to a hook of git",
    (p) => (linkSync(at(p, ".git/hooks/pre-commit"), at(p, "notes")), ["notes", at(p, ".git/hooks/pre-commit")]),
  ],
  [
    "the file that the person's settings are a link to",
    (p) => {
      writeFileSync(at(p, "^/dotfiles.json"), "{}");
      symlinkSync(at(p, "^/dotfiles.json"), at(p, "~/keybindings.json"));
      return [at(p, "^/dotfiles.json"), at(p, "^/dotfiles.json")];
    },
  ],
  [
    "what a link among the person's settings leads to, before it is there",
    (p) => (symlinkSync(at(p, "^/keys.json"), at(p, "~/auth.json")), [at(p, "^/keys.json"), at(p, "^/keys.json")]),
  ],
  [
    "the folder that an extension of the person's is a link to",
    (p) => {
      mkdirSync(at(p, "^/dev/tool"), { recursive: true });
      symlinkSync(at(p, "^/dev/tool"), at(p, "~/extensions/tool"));
      return [at(p, "^/dev/tool/index.ts"), at(p, "^/dev/tool/index.ts")];
    },
  ],
  ["a file address", (p) => [`file://${at(p, "~/auth.json")}`, at(p, "~/auth.json")]],
  ["an @ before the path", (p) => [`@${at(p, "~/auth.json")}`, at(p, "~/auth.json")]],
  ["/proc/self/root", (p) => [`/proc/self/root${at(p, "~/auth.json")}`, at(p, "~/auth.json")]],
];

test.each(LADDERS)("E9, attack 43: %s is no way around", async (_name, build) => {
  const files = { files: { ".git/hooks/pre-commit": "#!/bin/sh\n" } };
  const agentFiles = { "settings.json": "{}", "trust.d/one.json": "{}", "extensions/.keep": "" };
  const { mode, questions } = person(false);
  const project = await bench({ ...files, agentFiles }, { mode });
  const [path, file] = build(project);
  const before = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  const { text, isError } = await project.call("write", { path, content: "evil" });
  expect([isError, questions.length]).toEqual([true, 1]);
  expect(text).toContain("the person did not agree");
  expect(existsSync(file) ? readFileSync(file, "utf8") : undefined).toBe(before);
});

test("E9: links that lead in a circle are refused, and nothing hangs", async () => {
  const project = await bench();
  symlinkSync("b", join(project.path, "a"));
  symlinkSync("a", join(project.path, "b"));
  expect(await project.call("write", { path: "a/x", content: "x" })).toMatchObject({ isError: true });
});

test("E9: what the person's settings name as theirs is theirs, wherever it lies", async () => {
  const { mode, questions } = person(false);
  const project = await bench({}, { mode });
  await project.write(join(project.home, "mine/tool.ts"), "export default () => {};");
  await project.write(join(project.home, "lib/deep/SKILL.md"), "---\nname: deep\ndescription: d\n---\n");
  const settings = JSON.stringify({
    extensions: [join(project.home, "mine/tool.ts")],
    skills: [join(project.home, "lib")],
  });
  await project.write(join(project.agentDir, "settings.json"), settings);
  await project.host.reload();
  for (const path of ["mine/tool.ts", "lib/deep/run.sh"]) {
    expect(await project.call("write", { path: join(project.home, path), content: "x" })).toMatchObject({
      isError: true,
    });
  }
  expect(questions).toEqual([
    expect.stringContaining("is loaded as your own extension"),
    expect.stringContaining("is loaded as your own skill"),
  ]);
  expect(await project.call("write", { path: join(project.home, "mine/other.ts"), content: "x" })).toMatchObject({
    isError: false,
  });
});

/** A tool of somebody else's, which writes to `path` without looking, and says so. */
function careless(touches: boolean): ExtensionEntry {
  return {
    owner: { name: "careless", scope: "official" },
    extension: (pi) => {
      pi.registerTool({
        name: "save",
        description: "Saves.",
        parameters: { type: "object", properties: { path: { type: "string" } } } as never,
        ...(touches && { touches: ({ path }: { path: string }) => ({ write: [path] }) }),
        execute: async (_id, { path }: { path: string }, _signal, _update, { cwd }) => {
          mkdirSync(dirname(resolve(cwd, path)), { recursive: true });
          writeFileSync(resolve(cwd, path), "saved");
          return { content: [{ type: "text", text: "saved" }] };
        },
      });
    },
  };
}

test("E9: the tool of any extension that says what it touches is held to it, links to nothing included", async () => {
  const project = await bench({}, { official: [careless(true)] });
  symlinkSync(join(project.agentDir, "trust.json"), join(project.path, "notes"));
  for (const path of ["notes", ".pi/extensions/x.ts", "../home/.pi"]) {
    expect((await project.call("save", { path })).text).toContain("Nothing was written");
  }
  expect(existsSync(join(project.agentDir, "trust.json"))).toBe(false);
  expect(await project.call("save", { path: "free" })).toEqual({ text: "saved", isError: false });
});

test("E9: a tool that does not say what it touches is not covered, and neither is a shell (what the docs say)", async () => {
  const project = await bench({}, { official: [careless(false)] });
  expect(await project.call("save", { path: ".pi/a" })).toMatchObject({ isError: false });
  expect(await project.call("bash", { command: "echo x > .pi/b" })).toMatchObject({ isError: false });
});

test("E9: another gate that changes the arguments does not get around it", async () => {
  const rewriting: ExtensionEntry = {
    owner: { name: "rewriting", scope: "inline" },
    extension: (pi) => {
      pi.on("tool_call", ({ input, toolName }) => {
        if (toolName === "write") input.path = (input.path as string).replace("$HERE", ".pi");
      });
    },
  };
  const project = await bench();
  await project.agent.extend([rewriting]);
  expect((await project.call("write", { path: "$HERE/a", content: "x" })).text).toContain("holds what a project loads");
});

test("E9: while the gate cannot tell, the call is refused", async () => {
  const project = await bench();
  Object.assign(project.host.resources, {
    list: () => {
      throw new Error("the index is gone");
    },
  });
  expect(await project.call("write", { path: "free", content: "x" })).toMatchObject({ isError: true });
  expect(existsSync(join(project.path, "free"))).toBe(false);
  expect(await project.call("bash", { command: "echo still" })).toMatchObject({ isError: false });
});

test.for([
  ["the person agrees", true],
  ["the person does not agree", false],
] as const)(
  "E9, E8: the tools of a child agent, whoever brings them, are held as its parent's: %s",
  async ([, answer]) => {
    let child: Agent | undefined;
    const { mode, questions } = person(answer);
    const project = await bench({}, { mode });
    const calls = ["write", "touch"].map((name) => ({
      name,
      arguments: { path: `.pi/extensions/${name}.ts`, content: "x" },
    }));
    const script = [{ calls }, { text: "Done." }];
    const foreign: Extension = (pi) =>
      void pi.registerTool({
        name: "touch",
        description: "Makes a file.",
        parameters: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } },
        touches: (args) => ({ read: [], write: [String(args.path)] }),
        async execute(_id, args, _signal, _update, ctx) {
          const path = resolve(ctx.cwd, String(args.path));
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, "x");
          return { content: [] };
        },
      });
    await project.agent.extend([
      {
        owner: { name: "parent", scope: "inline" },
        extension: (pi) => {
          pi.registerCommand("child", {
            handler: async (_args, ctx) => {
              const extensions = [tools as never, foreign, scriptedProvider(script)];
              child = ctx.createAgent({ extensions, model: SCRIPTED_MODEL });
              await child.run("Go.");
            },
          });
        },
      },
    ]);
    await project.agent.input("/child");
    expect(questions).toHaveLength(2);
    const made = ["write", "touch"].map((name) => existsSync(join(project.path, `.pi/extensions/${name}.ts`)));
    expect(made).toEqual([answer, answer]);
    expect(lastResult(child!).isError).toBe(!answer);
  },
);

test("T7: what the agent wrote with the person's agreement is held at the next reload, and asked about", async () => {
  const asked: string[][] = [];
  const answers = ["content", "not-now"];
  const { mode } = person(true);
  mode.askTrust = (plan) => {
    asked.push(plan.items.filter(({ verdict }) => verdict === "held").map(({ id }) => id));
    return answers.shift();
  };
  const project = await bench({ files: { ".pi/prompts/p.md": "p" } }, { mode });
  expect(project.host.isProjectTrusted()).toBe(true);
  const evil = `export default () => { globalThis.CANARY = true; };`;
  expect(await project.call("write", { path: ".pi/extensions/x.ts", content: evil })).toMatchObject({ isError: false });
  await project.host.reload();
  expect(asked).toEqual([["prompt:.pi/prompts/p.md"], ["extension:.pi/extensions/x.ts"]]);
  expect(globalThis).not.toHaveProperty("CANARY");
  expect(project.host.resources.list("prompt")).toHaveLength(1);
  expect(project.report.heldLine()).toContain("1");
});

/** How another process swaps the folder `at` back and forth while tools write. */
const SWAPS: Record<string, string> = {
  "a link that is repointed": `symlinkSync(n % 2 ? free : trap, at + ".new");
      renameSync(at + ".new", at);`,
  "a folder that is exchanged for a link": `rmSync(at);
      renameSync(free, at);
      renameSync(at, free);
      symlinkSync(trap, at);`,
};

test.each(Object.keys(SWAPS))(
  "E9, attack 43: %s leads a write that is under way nowhere",
  { timeout: 120_000 },
  async (swap) => {
    const project = await bench();
    const [way, free, trap] = [join(project.path, "way"), join(project.path, "free"), project.agentDir];
    mkdirSync(free);
    symlinkSync(trap, way);
    // Whether to stop, and how often it was swapped.
    const flips = new Int32Array(new SharedArrayBuffer(8));
    const source = `
    const { renameSync, symlinkSync, rmSync } = require("node:fs");
    const { workerData: { at, free, trap, flips } } = require("node:worker_threads");
    // A write makes a folder where nothing is, also while it is taken away again.
    const attempt = (step) => {
      try {
        step();
      } catch (thrown) {
        if (!["ERR_FS_EISDIR", "ENOTEMPTY", "EEXIST"].includes(thrown.code)) throw thrown;
        attempt(() => {
          rmSync(at, { recursive: true, force: true });
          symlinkSync(trap, at);
        });
      }
    };
    for (let n = 0; Atomics.load(flips, 0) === 0; n++) {
      attempt(() => {
        ${SWAPS[swap]}
      });
      Atomics.add(flips, 1, 1);
    }`;
    const worker = new Worker(source, { eval: true, workerData: { at: way, free, trap, flips } });
    onTestFinished(async () => void (await worker.terminate()));
    const ended = new Promise((done, fail) => worker.once("exit", done).once("error", fail));
    const wanted = process.env.SOAK ? 10_000 : 300;
    for (let n = 0; Atomics.load(flips, 1) < wanted || n < 100; n++) {
      await project.call("write", { path: "way/auth.json", content: `${n}` });
    }
    Atomics.store(flips, 0, 1);
    await ended;
    expect(existsSync(join(trap, "auth.json"))).toBe(false);
    rmSync(way, { recursive: true });
    expect(await project.call("write", { path: "way/auth.json", content: "" })).toMatchObject({ isError: false });
  },
);

test("E9: a mount that shows a protected folder elsewhere is the same folder", async ({ skip }) => {
  const project = await bench();
  const mount = join(project.path, "mount");
  mkdirSync(mount);
  try {
    execFileSync("/bin/mount", ["--bind", project.agentDir, mount], { stdio: "ignore" });
  } catch {
    skip("needs the right to mount");
  }
  onTestFinished(() => void execFileSync("/bin/umount", [mount]));
  expect((await project.call("write", { path: "mount/auth.json", content: "x" })).text).toContain("holds your keys");
});
