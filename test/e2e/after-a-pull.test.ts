/** T2, F034: what a `git pull` brings is asked about where it changed a resource, and only there. */
import { execFile, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { headlessUi } from "@pi-agent/kernel";
import { type LoadMode, load, type PlanItem } from "@pi-agent/loader";
import { expect, onTestFinished, test } from "vitest";
import { openWorkbench, type Workbench } from "./workbench.ts";

const hasGit = spawnSync("git", ["--version"]).status === 0;

function marking(home: string, id: string, imports = ""): string {
  const mark = JSON.stringify(join(home, "ran"));
  return `import { appendFileSync } from "node:fs";\n${imports}appendFileSync(${mark}, "${id}\\n");\nexport default () => {};\n`;
}

interface Repository extends Workbench {
  clone: string;
  /** Changes files where they come from, and pulls them. */
  pull(changes: Record<string, string>): Promise<void>;
  /** The ids of the extensions that ran since the last look. */
  ran(): string[];
}

/** Opens a project of which `clone` is a clone, all of it approved as it is. */
async function openApproved(): Promise<Repository> {
  const bench = await openWorkbench([]);
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const clone = join(bench.home, "clone");
  const git = (cwd: string, ...args: string[]) =>
    promisify(execFile)("git", ["-c", "user.name=T", "-c", "user.email=t@example.invalid", ...args], {
      cwd,
      env: { PATH: process.env.PATH, HOME: bench.home, GIT_CONFIG_NOSYSTEM: "1" },
    });
  const commit = async (changes: Record<string, string>) => {
    for (const [file, content] of Object.entries(changes)) await bench.write(file, content);
    await git(bench.path, "add", "--all");
    await git(bench.path, "commit", "--quiet", "--message", "change");
  };
  await git(bench.path, "init", "--quiet", "--initial-branch=main");
  await commit({
    ".pi/extensions/importing.ts": marking(
      bench.home,
      "importing",
      'import { deep } from "../../src/helper.ts";\nvoid deep;\n',
    ),
    ".pi/extensions/alone.ts": marking(bench.home, "alone"),
    ".pi/skills/review/SKILL.md": "---\nname: review\ndescription: Reviews\n---\nLook.\n",
    ".pi/skills/review/run.sh": "#!/bin/sh\n",
    ".pi/prompts/ask.md": "Ask.\n",
    "src/helper.ts": 'export { deep } from "./deep.ts";\n',
    "src/deep.ts": "export const deep = 1;\n",
    "src/main.ts": "console.log(1);\n",
    "AGENTS.md": "Be kind.\n",
  });
  await git(bench.home, "clone", "--quiet", pathToFileURL(bench.path).href, clone);
  expect((await bench.pi(["trust", "yes"], { cwd: clone }).done).code).toBe(0);
  const ran = () => {
    const path = join(bench.home, "ran");
    const lines = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
    rmSync(path, { force: true });
    return lines.toSorted();
  };
  ran();
  const pull = async (changes: Record<string, string>) => {
    await commit(changes);
    await git(clone, "pull", "--quiet", "--ff-only");
  };
  return { ...bench, clone, pull, ran };
}

/** Loads with a person who says not now; answers what they were asked about, if they were. */
async function ask(at: Repository): Promise<readonly PlanItem[] | undefined> {
  let asked: readonly PlanItem[] | undefined;
  const mode: LoadMode = {
    name: "tui",
    hasUI: true,
    ui: { ...headlessUi, notify: () => {} },
    askTrust: (plan) => {
      asked = plan.items.filter(({ verdict }) => verdict === "held");
      return "not-now";
    },
  };
  const loaded = await load({ cwd: at.clone, env: { PATH: process.env.PATH, HOME: at.home }, mode });
  await loaded.dispose();
  return asked;
}

test("T2: a pull that changes only sources asks nothing, and everything loads as before", async ({ skip }) => {
  if (!hasGit) skip("needs git");
  const at = await openApproved();
  await at.pull({ "src/main.ts": "console.log(2);\n", "src/new.ts": "export {};\n", "README.md": "Hello.\n" });
  expect(await ask(at)).toBeUndefined();
  expect(at.ran()).toEqual(["alone", "importing"]);
  const { stderr } = await at.pi(["--list-models"], { cwd: at.clone }).done;
  expect([stderr, at.ran()]).toEqual(["", ["alone", "importing"]]);
});

test.for([
  ["the helper that it imports", { "src/helper.ts": 'export { deep } from "./deep.ts"; \n' }, "src/helper.ts"],
  ["what that helper imports", { "src/deep.ts": "export const deep = 2;\n" }, "src/deep.ts"],
] as const)(
  "T2, attack 34: one byte in %s asks about that extension alone, naming the file",
  async ([, changes, file], { skip }) => {
    if (!hasGit) skip("needs git");
    const at = await openApproved();
    await at.pull({ ...changes, "src/main.ts": "console.log(3);\n" });
    const asked = await ask(at);
    expect(asked?.map(({ id }) => id)).toEqual(["extension:.pi/extensions/importing.ts"]);
    expect(asked?.[0]?.change).toEqual({ isNew: false, added: [], removed: [], changed: [file] });
    expect(at.ran()).toEqual(["alone"]);
    const { stderr } = await at.pi(["--list-models"], { cwd: at.clone }).done;
    expect(stderr).toMatch(/^1 project resource held back \(1 extension\)/);
    expect(at.ran()).toEqual(["alone"]);
  },
);

test("T2, attack 34: one byte in a skill's script asks about that skill alone", async ({ skip }) => {
  if (!hasGit) skip("needs git");
  const at = await openApproved();
  await at.pull({ ".pi/skills/review/run.sh": "#!/bin/sh \n" });
  const asked = await ask(at);
  expect(asked?.map(({ id, change }) => [id, change?.changed])).toEqual([
    ["skill:.pi/skills/review/SKILL.md", [".pi/skills/review/run.sh"]],
  ]);
});

test("T7, attack 36: what a pull adds is asked about alone, as new", async ({ skip }) => {
  if (!hasGit) skip("needs git");
  const at = await openApproved();
  await at.pull({ ".pi/extensions/added.ts": marking(at.home, "added"), ".pi/prompts/ask.md": "Ask.\n" });
  const asked = await ask(at);
  expect(asked?.map(({ id, change }) => [id, change?.isNew])).toEqual([["extension:.pi/extensions/added.ts", true]]);
  expect(at.ran()).toEqual(["alone", "importing"]);
});

test("attack 40: a pull back to what was approved asks nothing again", async ({ skip }) => {
  if (!hasGit) skip("needs git");
  const at = await openApproved();
  const before = readFileSync(join(at.path, "src/deep.ts"), "utf8");
  await at.pull({ "src/deep.ts": "export const deep = 3;\n" });
  expect(await ask(at)).toHaveLength(1);
  await at.pull({ "src/deep.ts": before });
  expect(await ask(at)).toBeUndefined();
});

test("a change beside git, in the clone itself, is asked about as one that was pulled", async ({ skip }) => {
  if (!hasGit) skip("needs git");
  const at = await openApproved();
  appendFileSync(join(at.clone, "src/deep.ts"), "\n");
  expect((await ask(at))?.map(({ id }) => id)).toEqual(["extension:.pi/extensions/importing.ts"]);
});
