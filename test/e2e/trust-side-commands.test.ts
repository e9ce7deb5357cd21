import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PlanItem } from "@pi-agent/loader";
import { expect, test, vi } from "vitest";
import { FILES, leave, open, ranIn } from "./trust-bench.ts";

// Each test starts the command several times, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });
const HAS_STRACE = spawnSync("strace", ["-qq", "-e", "trace=none", "true"]).status === 0;

const COMMANDS = [
  ["--version"],
  ["--help"],
  ["help"],
  ["list"],
  ["update"],
  ["install", "./x"],
  ["config"],
  ["mcp"],
  ["trust"],
  ["trust", "show"],
  ["trust", "diff"],
  ["trust", "list"],
  ["doctor"],
  ["doctor", "--json"],
  ["prompt"],
  ["--list-models"],
  ["--no-such-flag", "-p", "hi"],
  ["-p", "hi", "--provider", "anthropic"],
  ["-p", "hi", "--model", "nobody/nothing"],
  ["-p", "hi", "--session", "00000000"],
  ["-p", "hi", "--mode", "nothing"],
] as const;

test("F037, attack 14: management commands and failed starts run no project code", async () => {
  await using bench = await open();
  for (const args of COMMANDS) {
    await bench.pi(args).done;
    expect([args, await ranIn(bench)]).toEqual([args, []]);
  }
  expect(bench.server.requests).toEqual([]);
  await bench.ask("Go.", "--approve").done;
  expect(await ranIn(bench)).toEqual(["one", "two"]);
});

test("F037: --version and --help read no project file at all", async ({ skip }) => {
  skip(!HAS_STRACE, "needs strace");
  await using bench = await open({
    ...FILES,
    "package.json": "{}",
    ".npmrc": "x=y",
    ".env": "A=B",
    ".git-is-real": "",
  });
  const opened = async (...args: string[]) => {
    const log = join(bench.home, "opened");
    const via = ["strace", "-f", "-o", log, "-e", "trace=open,openat,openat2", "--"] as const;
    const { code } = await bench.pi(args, { via: [...via], env: { UV_USE_IO_URING: "0" } }).done;
    expect(code).toBe(0);
    // An absolute path in the project, or one that is relative to the folder that it is in.
    const isTheirs = (line: string) => line.includes(`"${bench.path}`) || /AT_FDCWD, "[^/]/.test(line);
    return (await readFile(log, "utf8")).split("\n").filter(isTheirs);
  };
  for (const flag of ["--version", "-v", "--help", "-h", "help"])
    expect([flag, await opened(flag)]).toEqual([flag, []]);
  expect(await opened("trust", "show")).not.toEqual([]);
});

const SKILL = "---\nname: x\ndescription: x\n---\nx\n";
/** One project per row: the file that is all of it, how the documentation names it, what is in the plan. */
const GATED: readonly [file: string, named: string, plan: [grade: string, verdict: string] | undefined][] = [
  [".pi/extensions/x.ts", "`.pi/extensions`", ["executable", "held"]],
  [".pi/agents/x.md", "`.pi/agents`", ["executable", "held"]],
  [".pi/settings.json", "`.pi/settings.json`", ["settings", "held"]],
  [".pi/skills/x/SKILL.md", "`.pi/skills`", ["text", "held"]],
  [".agents/skills/x/SKILL.md", "`.agents/skills`", ["text", "held"]],
  [".pi/prompts/x.md", "`.pi/prompts`", ["text", "held"]],
  [".pi/themes/x.json", "`.pi/themes`", ["text", "held"]],
  [".pi/SYSTEM.md", "`.pi/SYSTEM.md`", ["text", "held"]],
  [".pi/APPEND_SYSTEM.md", "`.pi/APPEND_SYSTEM.md`", ["text", "held"]],
  ["AGENTS.md", "`AGENTS.md`", ["text", "loaded"]],
  ["CLAUDE.md", "`CLAUDE.md`", ["text", "loaded"]],
  ["AGENTS.override.md", "`AGENTS.override.md`", ["text", "loaded"]],
  [".mcp.json", "`.mcp.json`", undefined],
  [".pi/mcp.json", "`.pi/mcp.json`", undefined],
  [".claude/skills/x/SKILL.md", "`.claude/`", undefined],
  [".claude/settings.json", "`.claude/`", undefined],
  ["package.json", "`package.json`", undefined],
  [".env", "`.env`", undefined],
  [".npmrc", "`.npmrc`", undefined],
  [".yarnrc.yml", "`.yarnrc.yml`", undefined],
  [".pi/models.json", "`.pi/models.json`", undefined],
  [".pi/auth.json", "`.pi/auth.json`", undefined],
  [".pi/trust.json", "`.pi/trust.json`", undefined],
];

test("F031: what a project may hold alone is gated as the documentation says, item by item", {
  timeout: 60_000,
}, async () => {
  const docs = await readFile(new URL("../../docs/trust.md", import.meta.url), "utf8");
  await using bench = await open({});
  for (const [at, [file, named, planned]] of GATED.entries()) {
    const folder = join(bench.home, `only-${at}`);
    const manifest = file === "package.json" ? { pi: { extensions: ["./x.ts"] } } : {};
    await bench.write(join(folder, ".git", "HEAD"), "");
    await bench.write(join(folder, "x.ts"), leave("x"));
    await bench.write(join(folder, file), file.endsWith(".json") ? JSON.stringify(manifest) : SKILL);
    const { items } = JSON.parse((await bench.pi(["trust", "show", "--json"], { cwd: folder }).done).stdout);
    const found = (items as PlanItem[]).map(({ grade, verdict }) => [grade, verdict]);
    expect([file, found]).toEqual([file, planned ? [planned] : []]);
    const rows = docs.split("\n").filter((line) => line.startsWith("|") && line.includes(named));
    expect(rows.some((row) => row.includes(planned ? `| ${planned[0]} ` : "| none "))).toBe(true);
  }
  expect(await ranIn(bench)).toEqual([]);
});
