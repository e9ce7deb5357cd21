/** T9: programs that are run beside the model's own commands. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { chmod, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { TempProject } from "@pi-agent/testing";
import { expect, test } from "vitest";
import { ROOT } from "../walls/packages.ts";
import { loadAgent } from "./reload-agent.ts";
import { openWorkbench } from "./workbench.ts";

const hasGit = spawnSync("git", ["--version"]).status === 0;

/** A program that leaves its name in `<home>/ran`, and fails. */
function recorder(home: string, id: string): string {
  return `#!/bin/sh\necho ${id} >> '${home}/ran'\nexit 1\n`;
}

function ran({ home }: TempProject): string[] {
  const path = join(home, "ran");
  return existsSync(path) ? [...new Set(readFileSync(path, "utf8").trim().split("\n"))].toSorted() : [];
}

async function plant(at: TempProject, file: string, id: string): Promise<string> {
  const path = await at.write(file, recorder(at.home, id));
  await chmod(path, 0o755);
  return path;
}

const CONFIGURED = [
  ["core.fsmonitor", "fsmonitor"],
  ["core.pager", "pager"],
  ["core.sshCommand", "ssh"],
  ["core.askPass", "askpass"],
  ["diff.external", "external"],
  ["diff.drawn.textconv", "textconv"],
  ["filter.washed.clean", "clean"],
  ["gpg.program", "gpg"],
] as const;

/** A repository whose configuration runs a recorder wherever git lets it. */
async function armRepository(at: TempProject): Promise<void> {
  const git = (...args: string[]) => promisify(execFile)("git", args, { cwd: at.path });
  for (const [key, id] of CONFIGURED) {
    await git("config", key, await plant(at, `.evil/${id}`, id));
  }
  await git("config", "core.hooksPath", ".evil/hooks");
  await plant(at, ".evil/hooks/post-index-change", "hook");
  await at.write(".gitattributes", "*.txt filter=washed\n*.md diff=drawn\n");
  // Of the same size as before, so that only reading it, through the filter, tells.
  await at.write("a.txt", "two");
  await at.write("b.md", "two");
  // Of the same content: an index that is refreshed is written.
  await at.write("c", "one");
}

const FILES = { "a.txt": "one", "b.md": "one", c: "one" };
const READING = [
  ["status", "--porcelain"],
  ["--no-pager", "diff"],
  ["-C", ".", "diff", "--stat", "HEAD"],
  ["log", "-p", "-1"],
];

test("attack 7 (positive control): plain git in an armed repository runs what it configures", async ({ skip }) => {
  if (!hasGit) skip("needs git");
  await using bench = await openWorkbench([], { files: FILES, git: true });
  await armRepository(bench);
  for (const args of READING) spawnSync("git", args, { cwd: bench.path });
  expect(ran(bench)).toEqual(["clean", "external", "fsmonitor", "hook", "textconv"]);
  const program = await plant(bench, ".evil/process", "process");
  spawnSync("git", ["-c", `filter.washed.process=${program}`, "status"], { cwd: bench.path });
  expect(ran(bench)).toContain("process");
});

test("T9, attack 7: git that an extension reads with runs nothing of an untrusted repository, and answers", async ({
  skip,
}) => {
  if (!hasGit) skip("needs git");
  const at = await loadAgent({ files: FILES, git: true });
  await armRepository(at);
  const more = {
    "filter.washed.required": "true",
    "filter.washed.process": await plant(at, ".evil/process", "process"),
  };
  for (const setting of Object.entries(more)) spawnSync("git", ["config", ...setting], { cwd: at.path });
  const index = readFileSync(join(at.path, ".git", "index"));
  const [status, diff, stat, log] = await Promise.all(READING.map((args) => at.host.exec("git", args)));
  expect(ran(at)).toEqual([]);
  expect([status, diff, stat, log].map((each) => each?.stderr)).toEqual(["", "", "", ""]);
  expect(status?.stdout).toContain(" M a.txt\n M b.md\n");
  expect(diff?.stdout).toContain("-one\n\\ No newline at end of file\n+two");
  expect(stat?.stdout).toContain("2 files changed");
  expect(log?.stdout).toContain("a.txt");
  expect(readFileSync(join(at.path, ".git", "index"))).toEqual(index);
});

test("T9, attack 7: a partial clone is not filled from where an untrusted repository says", async ({ skip }) => {
  if (!hasGit) skip("needs git");
  const at = await loadAgent({ files: FILES, git: true });
  const git = (...args: string[]) => promisify(execFile)("git", args, { cwd: at.path });
  const { stdout: blob } = await git("rev-parse", "HEAD:a.txt");
  const upload = await plant(at, ".evil/upload", "upload");
  const settings = { "remote.o.url": at.path, "remote.o.promisor": "true", "remote.o.uploadpack": upload };
  for (const [key, value] of Object.entries(settings)) await git("config", key, value);
  await git("config", "core.repositoryFormatVersion", "1");
  await git("config", "extensions.partialClone", "o");
  await rm(join(at.path, ".git", "objects", blob.slice(0, 2), blob.trim().slice(2)));
  const read = await at.host.exec("git", ["cat-file", "-p", blob.trim()]);
  expect([ran(at), read.code]).toEqual([[], 128]);
  spawnSync("git", ["cat-file", "-p", blob.trim()], { cwd: at.path });
  expect(ran(at)).toEqual(["upload"]);
});

test("T9: git in a trusted project, and git that writes, works as the person set it up", async ({ skip }) => {
  if (!hasGit) skip("needs git");
  const trusted = await loadAgent(
    { files: FILES, git: true },
    { options: { flags: { approve: true }, trust: undefined } },
  );
  await armRepository(trusted);
  await trusted.write(".pi/prompts/p.md", "p");
  await trusted.host.reload();
  expect(trusted.host.isProjectTrusted()).toBe(true);
  await trusted.host.exec("git", ["status"]);
  expect(ran(trusted)).toContain("fsmonitor");
  const writing = await loadAgent({ files: FILES, git: true });
  await armRepository(writing);
  await writing.host.exec("git", ["add", "a.txt"]);
  expect(ran(writing)).toContain("clean");
});

const NAMES = ["git", "npm", "rg", "bash", "sh", "node", "ps", "fetch-key"];

async function plantPrograms(at: TempProject): Promise<string> {
  for (const name of NAMES) {
    await plant(at, name, name);
    await plant(at, `node_modules/.bin/${name}`, `.bin/${name}`);
  }
  const { PATH = "" } = process.env;
  return [".", "", join(at.path, "node_modules", ".bin"), PATH].join(delimiter);
}

test("attack 8 (positive control): a program of the project is what PATH means, where PATH is believed", async () => {
  await using bench = await openWorkbench([]);
  const PATH = await plantPrograms(bench);
  spawnSync("git", ["--version"], { cwd: bench.path, env: { PATH } });
  expect(ran(bench)).toEqual(["git"]);
});

test("T9, attack 8: what an extension runs by its name is not the project's, and finds no program of it", async () => {
  const at = await loadAgent({}, {});
  const PATH = await plantPrograms(at);
  const env = { PATH, HOME: at.home };
  const there = await loadAgent({}, { options: { cwd: at.path, env } });
  for (const name of ["git", "npm", "bash"]) await there.host.exec(name, ["--version"]);
  const { stdout } = await there.host.exec("sh", ["-c", "command -v git rg sh; echo $PATH"]);
  expect([ran(at), stdout.includes(at.path)]).toEqual([[], false]);
  expect(await there.host.exec("fetch-key", [])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("fetch-key"),
  });
});

test("T9, attack 8: the tools' shell and search, and the command for a key, are not the project's", async () => {
  const grep = { name: "grep", arguments: { pattern: "needle" } };
  const bash = { name: "bash", arguments: { command: "echo clean $0" } };
  await using bench = await openWorkbench([{ calls: [grep, bash] }, { text: "Done." }], {
    files: { "a.txt": "needle\n" },
  });
  const PATH = await plantPrograms(bench);
  const own = join(bench.home, "bin");
  await bench.write(join(own, "fetch-key"), "#!/bin/sh\necho test-key\n");
  await chmod(join(own, "fetch-key"), 0o755);
  const models = join(bench.agentDir, "models.json");
  const known = JSON.parse(readFileSync(models, "utf8")) as { providers: Record<string, { apiKey?: string }> };
  known.providers["wire-anthropic"]!.apiKey = "!fetch-key";
  writeFileSync(models, JSON.stringify(known));
  const args = ["-p", "Go.", "--model", "wire-anthropic/scripted", "--tools", "+grep"];
  const { code, stdout, stderr } = await bench.pi(args, { env: { PATH: `${PATH}${delimiter}${own}` } }).done;
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "Done.\n", stderr: "" });
  const results = JSON.stringify(bench.server.requests[1]?.body);
  expect([results.includes("a.txt:1: needle"), results.includes("clean /bin/bash")]).toEqual([true, true]);
  expect(ran(bench)).toEqual([]);
});

/** Every place that starts a program, and what it starts. A new one is the model's command, or is found outside. */
const STARTERS: Record<string, string> = {
  "cli/src/stdout-guard.ts": "nothing: it turns the output of what others start",
  "extensions/postgres/src/process-name.ts": "/bin/ps, where there is no /proc",
  "extensions/tools/src/process-tree.ts": "/bin/ps, taskkill by its path",
  "extensions/tools/src/ripgrep.ts": "the ripgrep that is a dependency, by its path, without settings",
  "extensions/tools/src/run-command.ts": "the model's and the person's commands, in a shell by its path",
  "loader/src/exec.ts": "what it is given",
  "loader/src/host.ts": "what extensions name, looked for outside of the project",
  "loader/src/packages/git.ts": "git as it is found outside, in an empty repository",
  "loader/src/packages/npm-scripts.ts": "/bin/sh for what the person allowed, in the package's own folder",
  "loader/src/value-template.ts": "/bin/sh for a key, in the agent directory, with a PATH that leads into no project",
};

test("T9, attack 6: no other place starts a program", () => {
  const starting = /(?:from |import\()"(?:node:child_process|node:cluster|\.{1,2}\/exec\.ts)"/;
  const sources = globSync("{kernel,loader,cli,extensions/*}/src/**/*.ts", { cwd: ROOT });
  const found = sources.filter((file) => starting.test(readFileSync(join(ROOT, file), "utf8")));
  expect(found.length).toBeGreaterThan(5);
  expect(found.filter((file) => !Object.hasOwn(STARTERS, file))).toEqual([]);
});

test("T9, attack 6: what package managers read in a project has no effect at a start", async () => {
  await using bench = await openWorkbench([{ text: "Done." }], {
    files: {
      ".npmrc": "git=./evil\nnode-options=--require ./evil.cjs\nscript-shell=./evil\nregistry=http://127.0.0.1:9\n",
      ".yarnrc.yml": "yarnPath: ./evil.cjs\nplugins: [./evil.cjs]\n",
      ".pnp.cjs": "require('fs').writeFileSync(require('os').homedir() + '/ran', 'pnp')",
      "evil.cjs": "require('fs').writeFileSync(require('os').homedir() + '/ran', 'evil')",
      "package.json": JSON.stringify({
        scripts: { preinstall: "./evil", prepare: "./evil" },
        imports: { "#x": "./evil.cjs" },
      }),
    },
  });
  await plant(bench, "evil", "evil");
  const { code, stdout } = await bench.ask("Go.").done;
  expect({ code, stdout, ran: ran(bench) }).toEqual({ code: 0, stdout: "Done.\n", ran: [] });
});
