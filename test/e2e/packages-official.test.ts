/** Every official extension on its own: packed as it is published, installed into an empty agent directory, loaded. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Loaded, type LoadOptions, load } from "@pi-agent/loader";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { installPackage } from "../../loader/src/packages/index.ts";
import { startVerdaccio, type Verdaccio } from "./packages-verdaccio.ts";
import { type Packed, packAll, publishAll } from "./packed.ts";

/** What each is loaded for, told by the registries that hold something of it afterwards. */
const GIVES: Record<string, readonly Parameters<Loaded["agent"]["registry"]>[0][]> = {
  agents: ["command"],
  anthropic: ["api"],
  cassette: ["flag"],
  compaction: ["service"],
  gemini: ["api"],
  openai: ["api"],
  postgres: ["session-store"],
  retry: [],
  sessions: ["service"],
  "sliding-window": ["settings"],
  "step-log": ["flag"],
  "system-prompt": [],
  tools: ["tool"],
};
const BUILD_MS = 240_000;

let packed: Packed;
let registry: Verdaccio;

beforeAll(async () => {
  packed = await packAll();
  registry = await startVerdaccio();
  await publishAll(registry, packed, Object.keys(GIVES).map(toName));
}, BUILD_MS);

afterAll(() => registry[Symbol.asyncDispose]());

test("the official extensions are those that are tried here", async () => {
  const rooms = await readdir(join(import.meta.dirname, "../../extensions"));
  // A library that others depend on.
  expect(rooms.filter((room) => room !== "wire").sort()).toEqual(Object.keys(GIVES).sort());
});

test.each(Object.keys(GIVES))(
  "P13: %s alone is installed from its tarball into an empty agent directory and loads",
  async (room) => {
    const home = await emptyHome();
    const name = toName(room);
    const { context } = (await loadIn(home, { isPlanOnly: true, isBare: true })).packages;
    const { status, preview, folder } = await installPackage(context, packed.tarballs.get(name)!, { cwd: home });
    expect(status).toBe("installed");
    expect(preview).toMatchObject({ name, missingHosts: [] });
    const { report, agent } = await loadIn(home);
    expect(report.problems).toEqual([]);
    expect(report.extensions).toMatchObject([{ owner: { path: expect.stringContaining(folder) }, state: "loaded" }]);
    for (const kind of GIVES[room]!) {
      const paths = [...agent.registry(kind).values()].map(({ owner }) => owner.path ?? "");
      expect([kind, paths.some((path) => path.startsWith(folder))]).toEqual([kind, true]);
    }
  },
);

function toName(room: string): string {
  return `@pi-agent/${room}`;
}

async function emptyHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "pi-official-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  for (const folder of [".pi/agent", "work"]) await mkdir(join(home, folder), { recursive: true });
  await writeFile(join(home, ".npmrc"), `registry=${registry.url}/\n`);
  return home;
}

async function loadIn(home: string, options: Partial<LoadOptions> = {}): Promise<Loaded> {
  const env = { PATH: process.env.PATH, HOME: home };
  const loaded = await load({ cwd: join(home, "work"), env, agentDir: join(home, ".pi", "agent"), ...options });
  onTestFinished(() => loaded.dispose().then(() => {}));
  return loaded;
}
