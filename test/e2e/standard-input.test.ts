import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWorkbench, type Workbench } from "./workbench.ts";

const ARGS = ["-p", "hi", "--model", "wire-chat/scripted"];
const via = (script: string): readonly [string, ...string[]] => ["sh", "-c", script, "sh"];
const DONE = { code: 0, stdout: "Done.\n" };

function firstPrompt({ server }: Workbench): string | undefined {
  return server.requests[0]?.neutral?.messages[0]?.text;
}

test.concurrent.for([
  [
    "a pipe whose writer sleeps",
    '(sleep 100 & echo $! > writer; wait) | { "$@"; code=$?; kill $(cat writer); exit $code; }',
  ],
  ["a fifo whose writer is silent", 'mkfifo pipe; sleep 100 > pipe & "$@" < pipe; code=$?; kill $!; exit $code'],
] as const)("F136: with a prompt, %s is told after two seconds and left behind after ten", async ([, script]) => {
  await using bench = await openWorkbench([{ text: "Done." }]);
  const { code, stdout, stderr } = await bench.pi(ARGS, { via: via(script) }).done;
  expect({ code, stdout }).toEqual(DONE);
  expect(stderr).toContain("waiting for standard input; going on without it in 8 s");
  expect(firstPrompt(bench)).toBe("hi");
});

test.for([
  ["closed", 'exec "$@" <&-'],
  ["/dev/null", 'exec "$@" < /dev/null'],
  ["an empty file", ': > empty; exec "$@" < empty'],
  ["a folder", 'exec "$@" < .'],
] as const)(
  "F136: with a prompt, standard input that is %s is no fault and no part of the prompt",
  async ([, script]) => {
    await using bench = await openWorkbench([{ text: "Done." }]);
    expect(await bench.pi(ARGS, { via: via(script) }).done).toMatchObject(DONE);
    expect(firstPrompt(bench)).toBe("hi");
  },
);

test("F136: what is piped in is used exactly once, before the prompt", async () => {
  await using bench = await openWorkbench([{ text: "Done." }]);
  const { code, stdout, stderr } = await bench.pi(ARGS, { via: via('echo ctx | "$@"') }).done;
  expect({ code, stdout, stderr }).toEqual({ ...DONE, stderr: "" });
  expect(firstPrompt(bench)).toBe("ctx\nhi");
});

test.for([
  ["closed", '"$@" <&-'],
  ["/dev/null", '"$@" < /dev/null'],
  ["blank", 'printf " \\n" | "$@"'],
] as const)("F136: no prompt at all, and standard input that is %s, is wrong usage", async ([, script]) => {
  await using bench = await openWorkbench([{ text: "never" }]);
  const run = bench.pi(["-p", "--model", "wire-chat/scripted"], { via: via(script) });
  const { code, stdout, stderr } = await run.done;
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("There is nothing to do");
  expect(bench.server.requests).toEqual([]);
});

test("F136: fifty megabytes are piped in whole, once", async () => {
  // They are more than a model takes, and would be cut in their middle.
  const agentFiles = { "settings.json": JSON.stringify({ compaction: { enabled: false } }) };
  await using bench = await openWorkbench([{ text: "Done." }], { agentFiles });
  const script = '{ echo begin; head -c 52428800 /dev/zero | tr "\\0" x; echo; echo end; } | "$@"';
  const { code, stdout } = await bench.pi(ARGS, { via: via(script), timeoutMs: 60_000 }).done;
  expect({ code, stdout }).toEqual(DONE);
  const prompt = firstPrompt(bench) ?? "";
  expect(prompt.length).toBe("begin\n\nend\nhi".length + (50 << 20));
  expect([prompt.slice(0, 7), prompt.slice(-7)]).toEqual(["begin\nx", "\nend\nhi"]);
}, 60_000);

const hasScript = spawnSync("script", ["--version"]).status === 0;

test("F136: a terminal without a person, as ssh -t gives it, is not waited for in print mode", async ({ skip }) => {
  if (!hasScript) skip("needs script");
  await using bench = await openWorkbench([{ text: "Done." }]);
  const log = join(bench.home, "screen");
  const script = `exec script -qec "$(printf "'%s' " "$@")" ${log}`;
  const run = bench.pi(ARGS, { via: via(script), holdStdin: true });
  const { code, stdout } = await run.done;
  expect(code).toBe(0);
  expect(stdout).toContain("Done.");
});
