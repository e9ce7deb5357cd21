import { mkdir, mkdtemp, readdir, readFile, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { FILES, leave, open, ranIn, readRecords, trust } from "./trust-bench.ts";
import { parseLines } from "./workbench.ts";

// Each test starts the command several times, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });
test("pi trust yes lets a project load from the next start on, and nothing of it runs for any sub-command of trust", async () => {
  await using bench = await open();
  expect(await trust(bench)).toMatch(/decision +untrusted, by nobody\n/);
  expect(await trust(bench, "yes")).toContain(`Trusted as it is now: ${bench.path}\n`);
  for (const words of [[], ["show"], ["show", "--json"], ["diff"], ["list"], ["yes"]]) await trust(bench, ...words);
  expect(await ranIn(bench)).toEqual([]);
  const { stderr } = await bench.ask("Go.").done;
  expect(stderr).toBe("");
  expect(await ranIn(bench)).toEqual(["one", "two"]);
  expect(await readRecords(bench)).toMatchObject([{ project: bench.path, decision: "trusted", bound: "content" }]);
});

test("pi trust text lets no code load; pi trust yes PATH then lets in one extension, and no other", async () => {
  await using bench = await open();
  await trust(bench, "text");
  await bench.ask("Go.").done;
  expect(await ranIn(bench)).toEqual([]);
  expect(await trust(bench, "yes", ".pi/extensions/two.ts")).toMatch(/1 extension, .*held back: 1 extension\./);
  const { stderr } = await bench.ask("Go.").done;
  expect(await ranIn(bench)).toEqual(["two"]);
  expect(stderr).toMatch(/^1 project resource held back \(1 extension\)/);
  await trust(bench, "no", ".pi/extensions/two.ts");
  await bench.ask("Go.").done;
  expect(await ranIn(bench)).toEqual([]);
});

test("T2, T7: what changes after a yes is held back, pi trust diff shows it, and yes takes it", async () => {
  await using bench = await open();
  await trust(bench, "yes");
  await bench.write(".pi/extensions/two.ts", leave("two, changed"));
  expect(await trust(bench, "diff")).toMatch(/^extension \.pi\/extensions\/two\.ts\n--- .*\n\+\+\+ .*\n@@ .*\n/);
  expect(await trust(bench, "diff", ".pi/extensions/two.ts")).toMatch(/\n-\w.*"two\\n".*\n\+\w.*"two, changed\\n"/);
  expect(await trust(bench, "show")).toContain("extension .pi/extensions/two.ts\n  changed: .pi/extensions/two.ts\n");
  await bench.ask("Go.").done;
  expect(await ranIn(bench)).toEqual(["one"]);
  await trust(bench, "yes");
  await bench.ask("Go.").done;
  expect(await ranIn(bench)).toEqual(["one", "two, changed"]);
  expect(await trust(bench, "diff")).toMatch(/^Nothing /);
});

test("pi trust yes --folder takes what the folder becomes; forget takes it back", async () => {
  await using bench = await open();
  expect(await trust(bench, "yes", "--folder")).toContain("Trusted whatever it becomes");
  await bench.write(".pi/extensions/two.ts", leave("two, changed"));
  await bench.write(".pi/extensions/three.ts", leave("three"));
  await bench.ask("Go.").done;
  expect((await ranIn(bench)).toSorted()).toEqual(["one", "three", "two, changed"]);
  expect(JSON.parse(await readFile(join(bench.agentDir, "trust.json"), "utf8"))).toEqual({ [bench.path]: true });
  expect(await trust(bench, "forget")).toContain(`Forgotten: ${bench.path}\n`);
  await bench.ask("Go.").done;
  expect(await ranIn(bench)).toEqual([]);
  expect(await readRecords(bench)).toEqual([]);
});

test("F029: a stored no holds in every way in, and nothing but --approve beats it", async () => {
  await using bench = await open();
  await trust(bench, "no");
  await bench.ask("Go.").done;
  await bench.ask("Go.", "--mode", "json").done;
  await bench.pi(["-p", "Go.", "--model", "wire-anthropic/scripted"], { env: { CI: "1" } }).done;
  expect(await ranIn(bench)).toEqual([]);
  await bench.ask("Go.", "--approve").done;
  expect(await ranIn(bench)).toEqual(["one", "two"]);
});

test("F029: without a person untrusted runs work without project code, with standard input closed, in CI, as JSON", async () => {
  await using bench = await open();
  for (const [more, env] of [
    [[], {}],
    [[], { CI: "1" }],
    [["--mode", "json"], {}],
  ] as const) {
    const { code, stdout, stderr } = await bench.pi(["-p", "Go.", "--model", "wire-anthropic/scripted", ...more], {
      env,
    }).done;
    expect(code).toBe(0);
    if (more.length > 0) expect(parseLines(stdout).at(-1)?.type).toBe("agent_settled");
    else expect(stdout).toBe("Done.\n");
    expect(stderr).toMatch(/^3 project resources held back \(2 extensions, 1 prompt\): .*pi trust show.*pi trust yes/);
  }
  expect(await ranIn(bench)).toEqual([]);
});

test("a pin trusts one content and no other", async () => {
  await using bench = await open();
  const { digest } = JSON.parse(await trust(bench, "show", "--json"));
  const { stderr } = await bench.ask("Go.", "--trust", digest).done;
  expect(stderr).toBe("");
  expect(await ranIn(bench)).toEqual(["one", "two"]);
  await bench.write(".pi/extensions/two.ts", leave("two, changed"));
  const later = await bench.ask("Go.", "--trust", digest).done;
  expect(later.code).toBe(0);
  expect(later.stderr).toContain("held back");
  expect(await ranIn(bench)).toEqual([]);
  expect(await readRecords(bench)).toEqual([]);
});

test.for(["sha256-12", "yes", `sha512-${"0".repeat(64)}`])(
  "--trust %s is wrong usage, told in three parts",
  async (value) => {
    await using bench = await open();
    const { code, stderr } = await bench.ask("Go.", "--trust", value).done;
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: --trust cannot be .+\n {2}why: it takes the digest .+\n {2}try: .+\n$/);
    expect(await ranIn(bench)).toEqual([]);
  },
);

test("F040: the path that is shown is the path that is stored, through a link and from a folder below", async () => {
  await using bench = await open();
  const link = join(bench.home, "link");
  await symlink(bench.path, link);
  await mkdir(join(bench.path, "sub"));
  const shown = (await bench.pi(["trust", "yes"], { cwd: join(link, "sub") }).done).stdout;
  expect(shown).toContain(`Trusted as it is now: ${bench.path}\n`);
  expect(await readRecords(bench)).toMatchObject([{ project: bench.path }]);
  expect(JSON.parse(await trust(bench, "list", "--json")).decisions).toMatchObject([
    { project: bench.path, isGone: false },
  ]);
});

test("pi trust list names what is gone, and forget takes it back", async () => {
  await using bench = await open();
  await trust(bench, "yes");
  await rename(bench.path, `${bench.path}-moved`);
  // The home is a project of its own here, with the agent directory in it.
  const elsewhere = { cwd: await mkdtemp(join(bench.home, "elsewhere-")) };
  expect((await bench.pi(["trust", "list"], elsewhere).done).stdout).toContain(`${bench.path} (gone)\n`);
  expect((await bench.pi(["trust", "forget", bench.path], elsewhere).done).stdout).toBe(`Forgotten: ${bench.path}\n`);
  expect((await bench.pi(["trust", "list"], elsewhere).done).stdout).toBe("Nothing was decided yet.\n");
});

test("a decision about another folder is made from anywhere, and only there", async () => {
  await using bench = await open();
  const { code, stdout } = await bench.pi(["trust", "yes", bench.path], { cwd: bench.home }).done;
  expect(code).toBe(0);
  expect(stdout).toContain(`Trusted as it is now: ${bench.path}\n`);
  await bench.ask("Go.").done;
  expect(await ranIn(bench)).toEqual(["one", "two"]);
});

test("attack 18: names like flags are names", async () => {
  await using bench = await open({ ...FILES, "--approve": "text", "--trust": "text" });
  await bench.pi(["-p", "--model", "wire-anthropic/scripted", "--", "--approve", "@--approve"]).done;
  await bench.pi(["-p", "--model", "wire-anthropic/scripted", "@--approve", "say"]).done;
  expect(await ranIn(bench)).toEqual([]);
  expect(await readRecords(bench)).toEqual([]);
  const below = join(bench.path, "--below");
  await mkdir(join(below, ".git"), { recursive: true });
  const { code } = await bench.pi(["trust", "no", "--", "--below"]).done;
  expect(code).toBe(0);
  expect(await readRecords(bench)).toMatchObject([{ project: below, decision: "denied" }]);
});

test("pi doctor compares the plan with what happened, names where a decision is kept, and a damaged trust file", async () => {
  await using bench = await open();
  await trust(bench, "yes");
  const [name = ""] = (await readdir(join(bench.agentDir, "trust.d"))).filter((each) => each.endsWith(".json"));
  const record = join(bench.agentDir, "trust.d", name);
  const well = await bench.pi(["doctor"]).done;
  expect(well.stdout).toContain(record);
  expect(well.stdout).toMatch(/loaded +as planned +extension:\.pi\/extensions\/one\.ts/);
  expect(well.stdout).toMatch(/loaded +as planned +prompt:\.pi\/prompts\/plan\.md/);
  expect(well.code).toBe(0);
  await bench.write(record, '{ "version": 1, ');
  const damaged = await bench.pi(["doctor"]).done;
  expect(damaged.code).toBe(1);
  expect(damaged.stdout).toMatch(new RegExp(`damaged +${record}: `));
  expect(damaged.stdout).toMatch(/held +as planned +extension:\.pi\/extensions\/one\.ts/);
});
