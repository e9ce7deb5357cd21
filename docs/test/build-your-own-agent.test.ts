/** The page, word for word, and the templates of `pi create`: as a stranger would use them, from a registry on loopback. */
import { execFile } from "node:child_process";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startVerdaccio, type Verdaccio } from "../../test/e2e/packages-verdaccio.ts";
import { type Packed, packAll, publishAll } from "../../test/e2e/packed.ts";
import { lastResults, type TempProject, tempProject } from "../../test/kit/src/index.ts";
import { startWireServer } from "../../test/kit/src/wire.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/build-your-own-agent.md"), "utf8");
const OURS = ["@pi-agent/cli", "@pi-agent/kernel", "@pi-agent/testing"];
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
const LONG = { timeout: 240_000 };

let packed: Packed;
let registry: Verdaccio;

beforeAll(async () => {
  packed = await packAll();
  registry = await startVerdaccio();
  await publishAll(registry, packed, [...OURS, "@types/node"]);
}, LONG.timeout);
afterAll(() => registry?.[Symbol.asyncDispose]());

/** A shell as the page wants it, with a home and an npm cache of its own; `cd` counts for what is typed later. */
function openShell(project: TempProject) {
  const env = {
    PATH: `${join(ROOT, "node_modules/.bin")}:${process.env.PATH}`,
    HOME: project.home,
    ANTHROPIC_API_KEY: "test-key",
    NO_COLOR: "1",
    npm_config_registry: registry.url,
    npm_config_cache: join(project.home, "npm"),
    npm_config_update_notifier: "false",
    npm_config_audit: "false",
    npm_config_fund: "false",
    GIT_CONFIG_COUNT: "2",
    GIT_CONFIG_KEY_0: "user.name",
    GIT_CONFIG_VALUE_0: "Test",
    GIT_CONFIG_KEY_1: "user.email",
    GIT_CONFIG_VALUE_1: "test@example.invalid",
  };
  let cwd = project.path;
  return {
    get cwd() {
      return cwd;
    },
    async type(commands: string, more: NodeJS.ProcessEnv = {}): Promise<{ stdout: string; stderr: string }> {
      const script = `set -e\nexec < /dev/null\n${commands}\npwd > "$HOME/cwd"`;
      const said = await run("bash", ["-c", script], { cwd, env: { ...env, ...more } });
      cwd = readFileSync(join(project.home, "cwd"), "utf8").trim();
      return said;
    },
  };
}

type Shell = ReturnType<typeof openShell>;

/** The block of a language that follows a text of the page. */
function blockAfter(lead: string, language: string): string {
  const at = PAGE.indexOf(lead);
  expect(at, lead).toBeGreaterThan(0);
  return new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(PAGE.slice(at))?.[1] ?? "";
}

/** What would be published. */
async function packedFiles(shell: Shell): Promise<string[]> {
  const { stdout } = await shell.type("npm pack --dry-run --json");
  const [pack] = Object.values(JSON.parse(stdout) as Record<string, { files: { path: string }[] }>);
  return pack!.files.map(({ path }) => path).toSorted();
}

const FILES = {
  "agent.json": blockAfter("`agent.json` is the whole agent.", "json"),
  "prompt.md": blockAfter("And `prompt.md`:", "md"),
  "tools/changes.ts": blockAfter("`tools/changes.ts`, in place of", "ts"),
  "test/agent.test.ts": blockAfter("`test/agent.test.ts`, in place of", "ts"),
};

test(
  "P9, P13: the page makes a reviewer of three packages and a tool, which npx runs from its folder",
  LONG,
  async () => {
    await using project = await tempProject();
    const shell = openShell(project);
    await begin(project, shell);
    for (const [name, text] of Object.entries(FILES)) await project.write(join(shell.cwd, name), text);
    expect((await shell.type(blockAfter("testExtension(changes, { test });", "sh"))).stdout).toMatch(/pass 9\b/);
    expect(PAGE).toContain("# nine tests pass");
    await run(process.execPath, [TSC], { cwd: shell.cwd });
    await review(project, shell);

    await project.write(join(shell.cwd, "agent.json"), FILES["agent.json"].replace('"tools"', '"tool"'));
    const refused = (await shell.type("npx . hello").catch((error: unknown) => error)) as { stderr: string };
    const told = blockAfter('and never means "all":', "text");
    expect(refused.stderr.replaceAll(shell.cwd, "/home/you/reviewer")).toBe(told);
    await project.write(join(shell.cwd, "agent.json"), FILES["agent.json"]);
    const published = [...PUBLISHED, "tools/changes.ts"];
    expect(await packedFiles(shell)).toEqual(published);
    const elsewhere = await shell.type(
      'cd ..\nnpx --yes ./reviewer --version\nnpm install --silent -g ./reviewer\n"$npm_config_prefix/bin/reviewer" --version',
      { npm_config_prefix: join(project.home, "global") },
    );
    expect(elsewhere.stdout).toBe("0.1.0\n0.1.0\n");
  },
);

const PUBLISHED = ["README.md", "agent.json", "bin.js", "package.json", "prompt.md"];

/** Types the first part of the page, and looks at the template as it was created and installed. */
async function begin(project: TempProject, shell: Shell): Promise<void> {
  await shell.type(blockAfter("In a folder of your own:", "sh"));
  // The packing was done in a copy of the checkout: a build in it would pull the command away under others.
  const [build, pack, ...then] = blockAfter("the rest comes from npm:", "sh").split("\n");
  expect(build).toBe("npx -y pnpm@12.21.0 -C /path/to/pi-agent build --all");
  expect([...pack!.matchAll(/--filter (\S+)/g)].map(([, name]) => name)).toEqual(OURS);
  for (const name of OURS) cpSync(packed.tarballs.get(name)!, join(project.path, "packs", `${name.slice(10)}.tgz`));
  expect((await shell.type(then.join("\n"))).stdout).toMatch(/pass 10\b/);
  expect(PAGE).toContain("# ten tests pass");
  await run(process.execPath, [TSC], { cwd: shell.cwd });
  expect(await packedFiles(shell)).toEqual([...PUBLISHED, "tools/count-words.ts"]);

  // What was installed can begin the next one: its tarball has the templates, whole.
  const twice = ["node_modules/.bin/pi create extension x ../shipped", "pi create extension x ../here"];
  await shell.type(`${twice.join("\n")}\ndiff -r ../shipped ../here`);
  expect(existsSync(join(shell.cwd, "node_modules/@pi-agent/cli/agent.schema.json"))).toBe(true);
}

/** Types what runs the agent; the model is a server on loopback that speaks the real wire format. */
async function review(project: TempProject, shell: Shell): Promise<void> {
  const expected = blockAfter("## 4. Run it", "text");
  const script = [{ calls: [{ name: "changes", arguments: {} }] }, { text: expected.split("\n")[1]! }];
  const { model } = JSON.parse(FILES["agent.json"]) as { model: string };
  const server = await startWireServer({ script, models: [model.slice("anthropic/".length)] });
  try {
    const models = { providers: { anthropic: { baseUrl: server.url } } };
    await project.write(join(project.agentDir, "models.json"), JSON.stringify(models));
    const { stdout, stderr } = await shell.type(blockAfter("## 4. Run it", "sh"));
    expect(stderr + stdout).toBe(expected);
    const [first, second] = server.requests.map(({ neutral }) => neutral!);
    expect(first!.system).toContain("You are a reviewer.");
    expect(first!.tools.map(({ name }) => name).toSorted()).toEqual(["changes", "grep", "read"]);
    expect(lastResults(second!)[0]?.text).toContain("+Be brief.");
    expect(server.refusals()).toEqual([]);
  } finally {
    await server.close();
  }
}

test(
  "P9: a new extension is installed from a registry, passes its tests at once, has right types, and is published whole",
  LONG,
  async () => {
    await using project = await tempProject();
    const shell = openShell(project);
    await shell.type("pi create extension @acme/count-things\ncd count-things\nnpm install");
    expect((await shell.type("npm test")).stdout).toMatch(/pass 9\b/);
    await run(process.execPath, [TSC], { cwd: shell.cwd });
    expect(await packedFiles(shell)).toEqual(["README.md", "package.json", "src/index.ts"]);
    const loaded = JSON.parse(
      (await shell.type("pi -e . doctor --json").catch((error: unknown) => error as { stdout: string })).stdout,
    );
    expect(loaded).toMatchObject({
      extensions: expect.arrayContaining([
        expect.objectContaining({ state: "loaded", name: join(shell.cwd, "src/index.ts") }),
      ]),
    });
  },
);

test("P9: a new skill passes its tests at once, and is published whole", LONG, async () => {
  await using project = await tempProject();
  const shell = openShell(project);
  const { stdout } = await shell.type("pi create skill release-notes\ncd release-notes\nnpm test");
  expect(stdout).toMatch(/pass 3\b/);
  expect(await packedFiles(shell)).toEqual(["README.md", "package.json", "skills/release-notes/SKILL.md"]);
});
