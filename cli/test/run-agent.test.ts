import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { finish, startPi } from "./run-node.ts";

const root = mkdtempSync(join(tmpdir(), "pi-run-"));
afterAll(() => rmSync(root, { recursive: true }));
const home = join(root, "home");
const project = join(root, "project");
mkdirSync(home);
mkdirSync(join(project, ".pi", "extensions"), { recursive: true });
writeFileSync(join(project, ".pi", "extensions", "theirs.ts"), "throw new Error('it ran');\n");

const cassette = join(root, "cassette.jsonl");
const turns = [{ calls: [{ name: "bash", arguments: { command: "echo one" } }] }, { text: "All done." }];
const header = { type: "cassette", version: 1 };
writeFileSync(cassette, [header, ...turns].map((line) => `${JSON.stringify(line)}\n`).join(""));
const MODEL = ["--provider", "cassette", "--cassette", cassette];

/** Runs the command as built, in the project, without any key. */
function pi(args: readonly string[], input = "", more: NodeJS.ProcessEnv = {}) {
  const env = {
    HOME: home,
    PI_CODING_AGENT_DIR: "",
    ANTHROPIC_API_KEY: "",
    GEMINI_API_KEY: "",
    GOOGLE_API_KEY: "",
    OPENAI_API_KEY: "",
    ...more,
  };
  const child = startPi(args, { env, cwd: project });
  child.stdin?.end(input);
  return finish(child);
}

test("print mode: the answer on standard output, and what was held back on standard error", async () => {
  const { code, stdout, stderr } = await pi(["-p", ...MODEL, "go"]);
  expect([code, stdout]).toEqual([0, "All done.\n"]);
  expect(stderr).toMatch(/^1 project resource held back .*pi trust show.*pi trust yes.*\n$/);
});

test("a pipe alone is a prompt, and needs no -p", async () => {
  const { code, stdout } = await pi(MODEL, "go");
  expect([code, stdout]).toEqual([0, "All done.\n"]);
});

test("one word that names no sub-command is a prompt", async () => {
  expect((await pi(["hello", ...MODEL])).stdout).toBe("All done.\n");
});

test("--verbose shows each step on standard error", async () => {
  const { stdout, stderr } = await pi(["-p", "--verbose", ...MODEL, "go"]);
  expect(stdout).toBe("All done.\n");
  expect(stderr).toContain("• bash echo one\n");
});

test("--log stdout reaches the real standard output: the person asked for it", async () => {
  const { stdout } = await pi(["-p", "--log", "stdout", ...MODEL, "go"]);
  const lines = stdout.split("\n");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ event: "run_start", iteration: 0 });
  expect(JSON.parse(lines.at(-2) ?? "")).toMatchObject({ event: "run_end", answer: "All done." });
});

test("JSON mode: the header first, then events", async () => {
  const { code, stdout } = await pi(["--mode", "json", ...MODEL, "go"]);
  expect(code).toBe(0);
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events[0]).toMatchObject({ type: "session", version: 3 });
  expect(events.at(-1)).toMatchObject({ type: "agent_settled", outcome: "done" });
});

test("K11: --max-turns ends the run with 1", async () => {
  const { code, stderr } = await pi(["-p", "--max-turns", "1", ...MODEL, "go"]);
  expect(code).toBe(1);
  expect(stderr).toContain("warning: The run was stopped before its answer");
});

test.each([
  [["-p"], "There is nothing to do"],
  [["-p", "--modle", "x", "go"], "unknown flag --modle"],
  [["-p", "go", "--cassette"], "--cassette has no value"],
  [["-p", "--mode", "jsn", ...MODEL, "go"], '--mode cannot be "jsn"'],
  [["-p", "--tools", "raed", ...MODEL, "go"], "there is no tool raed"],
  [["-p", "--provider", "casette", "go"], "casette"],
  [["-p", "--model", "nothing-like-it", "go"], "nothing-like-it"],
  [["-p", ...MODEL, "@gone.txt"], "@gone.txt cannot be read"],
  [["trust", "maybe"], "pi trust maybe is not known"],
])("%j is wrong usage: exit 2, nothing on standard output", async (args, what) => {
  const { code, stdout, stderr } = await pi(args);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(what);
  expect(stderr).toMatch(/\n {2}try: /);
});

test("without any key the variables that were looked for are named, with the way to go on", async () => {
  const { code, stdout, stderr } = await pi(["-p", "go"]);
  expect([code, stdout]).toEqual([1, ""]);
  for (const name of ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "pi demo"])
    expect(stderr).toContain(name);
});

test("--list-models finds by words", async () => {
  const { code, stdout } = await pi(["--list-models", "cassette scripted"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^model +context .*\ncassette\/scripted .* yes\n$/);
});

test("pi trust show tells what the project would load, and runs none of it", async () => {
  const { code, stdout } = await pi(["trust", "show"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/held +executable +extension +\.pi\/extensions\/theirs\.ts/);
  const { plan: _, ...data } = JSON.parse((await pi(["trust", "show", project, "--json"])).stdout);
  expect(data).toMatchObject({ project, decision: "untrusted", items: [{ verdict: "held", grade: "executable" }] });
});

test("pi prompt shows each section with its slot, its owner and its tokens", async () => {
  const { code, stdout } = await pi(["prompt"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^--- \w+ · slot preamble · @pi-agent\/system-prompt · about \d+ tokens\n/);
  expect(stdout).toMatch(/^read +about \d+ tokens +@pi-agent\/tools$/m);
  expect(stdout).toMatch(
    /\n--- \d+ sections, about \d+ tokens · 4 tools, about \d+ tokens · together about \d+ tokens\n$/,
  );
});

test("pi prompt shows what the flags of tools leave, before or after the sub-command", async () => {
  const names = async (args: string[]) =>
    JSON.parse((await pi(args)).stdout).tools.map((tool: { name: string }) => tool.name);
  expect(await names(["prompt", "--json", "--tools", "read,ls"])).toEqual(["read", "ls"]);
  expect(await names(["--tools", "read,ls", "prompt", "--json"])).toEqual(["read", "ls"]);
});

test("pi doctor lists extensions, providers, commands and flags, and ends with 0 when all is well", async () => {
  const { code, stdout } = await pi(["doctor"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/loaded +[\d.]+ +[\d.]+ +\d+ +0 +official +@pi-agent\/sessions/);
  expect(stdout).toMatch(/anthropic +no key +looks for ANTHROPIC_API_KEY/);
  expect(stdout).toMatch(/pi demo +/);
  expect(stdout).toMatch(/-c, --continue +/);
  expect(stdout).toContain("1 project resource held back");
});

test("pi doctor ends with 1 when an extension of the person's own is broken, and says where", async () => {
  const folder = join(home, ".pi", "agent", "extensions");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "broken.ts"), "export default (pi) => {\n");
  const { code, stdout } = await pi(["doctor"]);
  rmSync(folder, { recursive: true });
  expect(code).toBe(1);
  expect(stdout).toMatch(/failed .* user +\S+broken\.ts/);
});

test.each(["--approve=false", "-a=false", "--no-approve=false"])("%s lets nothing of a project load", async (flag) => {
  const { code, stderr } = await pi(["-p", flag, ...MODEL, "go"]);
  expect(code).toBe(0);
  expect(stderr).toContain("1 project resource held back");
});

test("a switch that is set to false is off: --help, --version, --verbose, --print", async () => {
  const off = ["--help=false", "--version=false", "--verbose=false", "--print=false"];
  const { code, stdout, stderr } = await pi([...off, ...MODEL, "go"]);
  expect([code, stdout]).toEqual([0, "All done.\n"]);
  expect(stderr).not.toContain("•");
});

test("pi prompt says on standard error what was held back; pi trust show and pi doctor list it themselves", async () => {
  expect((await pi(["prompt"])).stderr).toMatch(/^1 project resource held back .*\n$/);
  expect((await pi(["trust", "show"])).stderr).toBe("");
  expect((await pi(["doctor"])).stderr).toBe("");
});

test("a sub-command may follow the command's own flags", async () => {
  const { code, stdout } = await pi(["--approve", "trust", "show"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/loaded +executable +extension/);
});

test.each([
  ["docter", "did you mean pi doctor?"],
  ["mcp", "an extension can register"],
])("pi %s is wrong usage and reaches no model", async (word, hint) => {
  const { code, stdout, stderr } = await pi([word, ...MODEL]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(hint);
  expect((await pi(["-p", word, ...MODEL])).stdout).toBe("All done.\n");
});

test("pi help is pi --help", async () => {
  expect(await pi(["help"])).toEqual(await pi(["--help"]));
});

test.each([
  ["--log", "stdout", "--mode", "json"],
  ["-p", "--cassette-speed", "x"],
])("%s %s %s %s is wrong usage in three parts", async (...flags) => {
  const { code, stdout, stderr } = await pi([...flags, ...MODEL, "go"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/error: .*\n {2}why: .*\n {2}try: .*\n$/);
});

test("what is piped in and no text is wrong usage", async () => {
  const { code, stdout, stderr } = await pi(["-p", ...MODEL, "go"], "\u007fELF\u0000\u0001");
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("zero bytes");
});

test("--continue says what it goes on with, and where there is nothing", async () => {
  const own = ["--session-dir", join(root, "continued"), ...MODEL];
  const first = await pi(["-p", "-c", ...own, "Mend it."]);
  expect(first.stderr).toContain("there is no session of this folder to go on with");
  const second = await pi(["-p", "-c", ...own, "And now?"]);
  expect(second.stderr).toMatch(/^going on with "Mend it\.", \d+ entries, last used /m);
});

test("a default model that nobody knows is told", async () => {
  const agentDir = join(root, "with-default");
  mkdirSync(agentDir);
  const model = { id: "there", contextWindow: 1_000 };
  const own = { baseUrl: "http://127.0.0.1:9", api: "openai-completions", apiKey: "none", models: [model] };
  writeFileSync(join(agentDir, "models.json"), JSON.stringify({ providers: { own } }));
  writeFileSync(join(agentDir, "settings.json"), '{ "defaultProvider": "own", "defaultModel": "their" }');
  const { stderr } = await pi(["-p", "go"], "", { PI_CODING_AGENT_DIR: agentDir });
  expect(stderr).toContain("warning: The default model own/their is not known: taking own/there");
});

test("--export writes a file, also where its name could be a command's, and never asks a model", async () => {
  const dir = join(root, "exported");
  const first = await pi(["-p", "--session-dir", dir, "--session-id", "tale", ...MODEL, "go"]);
  expect(first.code).toBe(0);
  const { code, stdout } = await pi(["--session-dir", dir, "--export", "tale", "outname"]);
  expect([code, stdout.includes("All done.")]).toEqual([0, false]);
  expect(stdout).toContain("outname");
});
