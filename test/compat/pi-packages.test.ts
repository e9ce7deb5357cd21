/** Ten packages that people made for Pi, from the public registry: installed, listed and loaded by our own code. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Loaded, type LoadOptions, load } from "@pi-agent/loader";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { installPackage, listPackages } from "../../loader/src/packages/index.ts";

interface Expected {
  name: string;
  version: string;
  /** What is to be listed, by paths below the package. */
  contains: string[];
  /** What its code imports from Pi beside types; nobody lends it. Nothing: it loads. */
  misses?: RegExp;
}

const HOST = /cannot find @(?:earendil-works|mariozechner)\/pi-(?:ai|tui|coding-agent)\b/;
const PACKAGES: Expected[] = [
  { name: "pi-system-theme", version: "0.5.0", contains: ["index.ts"] },
  { name: "pi-sync-system-theme", version: "0.2.5", contains: ["index.ts"] },
  // It says nothing of what Pi could load: what it is made for is a build of its own.
  { name: "@agentuity/pi", version: "2.0.21", contains: [] },
  { name: "@aliou/pi-utils-settings", version: "0.19.2", contains: ["skills/pi-utils-settings/SKILL.md"] },
  {
    name: "@aliou/pi-processes",
    version: "0.12.0",
    contains: [
      "extensions/processes-dock/index.ts",
      "extensions/processes-logs/index.ts",
      "extensions/processes/index.ts",
      "skills/pi-processes/SKILL.md",
    ],
    misses: HOST,
  },
  { name: "@harms-haus/pi-cwd", version: "1.0.0", contains: ["src/index.ts"], misses: HOST },
  { name: "pi-btw", version: "0.4.1", contains: ["extensions/btw.ts"], misses: HOST },
  {
    name: "pi-prompt-template-model",
    version: "0.12.2",
    contains: ["index.ts", "skills/prompt-template-authoring/SKILL.md"],
    misses: HOST,
  },
  { name: "pi-markdown-preview", version: "0.16.0", contains: ["index.ts"], misses: HOST },
  { name: "@juicesharp/rpiv-ask-user-question", version: "2.11.0", contains: ["index.ts"], misses: HOST },
];

let isReachable = false;

beforeAll(async () => {
  const asked = promisify(execFile)("npm", ["view", "pi-system-theme", "name", "--fetch-retries", "0"]);
  isReachable = await asked.then(
    () => true,
    () => false,
  );
});

test.for(PACKAGES)(
  "P15: $name $version is installed, lists what it contains, and loads or names what nobody lends",
  async ({ name, version, contains, misses }, { skip }) => {
    if (!isReachable) return skip("needs npm registry");
    const home = await emptyHome();
    const { context } = (await loadAt(home, { isPlanOnly: true, isBare: true })).packages;
    const { status, folder } = await installPackage(context, `npm:${name}@${version}`, { cwd: home });
    expect(status).toBe("installed");
    const [installed] = await listPackages(context, { isThorough: true });
    expect(installed).toMatchObject({ name, version, state: "ok" });
    const lists = Object.values(installed?.resources ?? {}).flat();
    expect(lists.map(({ path }) => path)).toEqual(contains);
    const { report } = await loadAt(home);
    const own = report.extensions.filter(({ owner }) => owner.path?.startsWith(folder));
    expect(own.map(({ owner }) => owner.path?.slice(folder.length + 1))).toEqual(
      installed?.resources?.extensions.map(({ path }) => path),
    );
    for (const { state, error } of own) {
      if (!misses) expect([state, error]).toEqual(["loaded", undefined]);
      else expect(error).toMatchObject({ code: "extension_import", message: expect.stringMatching(misses) });
    }
    expect(report.problems.length).toBe(misses ? own.length : 0);
  },
);

async function emptyHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "pi-compat-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  for (const folder of [".pi/agent", "work"]) await mkdir(join(home, folder), { recursive: true });
  // How this machine reaches the registry.
  const npmrc = join(homedir(), ".npmrc");
  if (existsSync(npmrc)) await copyFile(npmrc, join(home, ".npmrc"));
  return home;
}

async function loadAt(home: string, options: Partial<LoadOptions> = {}): Promise<Loaded> {
  const env = { ...process.env, HOME: home };
  const loaded = await load({ cwd: join(home, "work"), env, agentDir: join(home, ".pi", "agent"), ...options });
  onTestFinished(() => loaded.dispose().then(() => {}));
  return loaded;
}
