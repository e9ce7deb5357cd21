import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { tempProject } from "@pi-agent/testing";
import { expect, onTestFinished, test } from "vitest";
import { loadAgent } from "./reload-agent.ts";

const isSoak = process.env.SOAK === "1";
const [RELOADS, EXTENSIONS] = isSoak ? [1_000, 20] : [30, 5];
// Two thirds of the reloads may add this in all: what V8 and Node keep for a while, and no part of every reload.
const MAX_GROWTH_BYTES = 1 << 20;

/** An extension that uses everything that has to be taken back, and takes it back. */
const CLEAN = `import { basename } from "node:path";
import { weigh } from "./lib/weigh.ts";
const ballast: string[] = Array.from({ length: 1_000 }, (_, i) => "ballast " + i);
export default function (pi: any) {
  const name = "tool-" + basename(import.meta.url).replace(/\\W/g, "-");
  let timer: ReturnType<typeof setInterval> | undefined;
  const onSignal = () => ballast.length;
  process.on("SIGUSR2", onSignal);
  pi.registerTool({ name, description: name, parameters: {}, execute: async () => ({ content: [] }) });
  pi.registerCommand(name, { handler: () => weigh(ballast) });
  pi.on("turn_end", () => void weigh(ballast));
  pi.events.on("ping", () => weigh(ballast));
  pi.on("session_start", () => { timer = setInterval(() => weigh(ballast), 10_000); });
  pi.onDispose(() => { clearInterval(timer); process.off("SIGUSR2", onSignal); });
}
`;

test(`${RELOADS} reloads of ${EXTENSIONS} extensions leave heap, handles and listeners flat (F008)`, async () => {
  const files = { "lib/weigh.ts": "export const weigh = (list: string[]): number => list.length;" };
  const names = Array.from({ length: EXTENSIONS }, (_, i) => `x${i}.ts`);
  const at = await tempProject({
    agentFiles: Object.fromEntries(
      [...names.slice(1).map((name) => [name, CLEAN]), ...Object.entries(files)].map(([name, text]) => [
        `extensions/${name}`,
        text,
      ]),
    ) as Record<string, string>,
    files: { ".pi/extensions/x0.ts": CLEAN, ".pi/extensions/lib/weigh.ts": files["lib/weigh.ts"] },
  });
  onTestFinished(() => at.cleanup());
  const child = join(import.meta.dirname, "reload-soak.ts");
  const args = ["--expose-gc", "--conditions", "@pi-agent/source", child, at.home, at.path, String(RELOADS)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { samples, problems, tools } = JSON.parse(stdout);
  expect(problems).toEqual([]);
  expect(tools).toBe(0);
  const [early, late] = samples;
  expect(late.resources).toEqual(early.resources);
  expect(late.listeners).toBe(early.listeners);
  expect(late.modules).toBe(early.modules);
  expect(late.heapBytes - early.heapBytes).toBeLessThan(MAX_GROWTH_BYTES);
});

const LEAKS: [string, string, RegExp][] = [
  ["a timer", "pi.on('session_start', () => { globalThis.ends.push(setInterval(() => {}, 10_000)); });", /1 × timer/],
  [
    "a server",
    "const server = createServer().listen(0); globalThis.ends.push(server);",
    /1 × handle of type TCPServerWrap/,
  ],
  ["a listener of the process", "process.on('SIGUSR2', () => {});", /1 × listener for "SIGUSR2" of the process/],
];

test.each(LEAKS)(
  "what an old instance leaves is told after each reload, with who it may be: %s",
  async (_what, body, told) => {
    const ends: { close?(): void }[] = [];
    Object.assign(globalThis, { ends });
    onTestFinished(() => {
      for (const end of ends) if (end.close) end.close();
      for (const end of ends) clearInterval(end as never);
      process.removeAllListeners("SIGUSR2");
    });
    const source = `import { createServer } from "node:net";\nexport default (pi) => { ${body} };`;
    const at = await loadAgent({ agentFiles: { "extensions/leaky.ts": source } });
    for (let i = 0; i < 3; i++) await at.host.reload();
    expect(at.errors.length).toBeGreaterThan(1);
    for (const error of at.errors) expect(error).toMatch(told);
    expect(at.errors[0]).toMatch(/^reload_leak of .*leaky\.ts/);
  },
);

test("an undo that fails is told once, with its owner, and keeps nothing from being reloaded", async () => {
  const source = 'export default (pi) => pi.onDispose(() => { throw new Error("stuck"); });';
  const at = await loadAgent({ agentFiles: { "extensions/stuck.ts": source } });
  await at.host.reload();
  expect(at.report.problems).toMatchObject([{ code: "undo_failed", hint: expect.stringContaining("onDispose") }]);
  await at.host.reload();
  expect(at.errors).toEqual([expect.stringMatching(/^undo_failed of .*stuck\.ts: .*stuck/)]);
});

test("an instance that cleans up is not told of, even when what it closes takes a moment", async () => {
  const source = `import { createServer } from "node:net";
export default (pi) => { const server = createServer().listen(0); pi.onDispose(() => void server.close()); };`;
  const at = await loadAgent({ agentFiles: { "extensions/clean.ts": source } });
  for (let i = 0; i < 3; i++) await at.host.reload();
  expect(at.errors).toEqual([]);
});
