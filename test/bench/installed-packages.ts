/** An agent directory with packages from a real registry, each with one TypeScript extension. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installAll, type PackageContext } from "../../loader/src/packages/index.ts";
import { startVerdaccio, type Verdaccio } from "../e2e/packages-verdaccio.ts";

export interface InstalledPackages {
  home: string;
  agentDir: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Publishes packages and installs them all; everything is gone at the end of its block. */
export async function installPackages(count: number): Promise<InstalledPackages> {
  await using registry = await startVerdaccio();
  const names = Array.from({ length: count }, (_, index) => `bench-${index}`);
  for (const name of names) {
    await registry.publish(
      { name, version: "1.0.0", pi: { extensions: ["./extensions/main.ts"] } },
      {
        "extensions/main.ts": extensionNamed(name),
        "README.md": `# ${name}\n`,
      },
    );
  }
  const context = await homeFor(registry);
  const { home, agentDir } = context;
  await writeFile(join(agentDir, "settings.json"), JSON.stringify({ packages: names.map((name) => `npm:${name}`) }));
  await installAll(context);
  return { home, agentDir, [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }) };
}

/** Makes a person's home whose `.npmrc` names a registry. */
export async function homeFor({ url }: Verdaccio): Promise<PackageContext> {
  const home = await mkdtemp(join(tmpdir(), "pi-bench-"));
  const agentDir = join(home, ".pi", "agent");
  // What lies around the folder that one works in would be a project's.
  for (const folder of [agentDir, join(home, "work"), join(home, "tmp")]) await mkdir(folder, { recursive: true });
  await writeFile(join(home, ".npmrc"), `registry=${url}/\n`);
  const env = { PATH: process.env.PATH, HOME: home };
  return { agentDir, home, env, findProgram: () => undefined, hostVersions: {}, isLent: () => true };
}

/** The text of a small real extension: a type, a listener and a command. */
export function extensionNamed(name: string): string {
  return `import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

interface State {
  turns: number;
}

export default function (pi: ExtensionAPI): void {
  const state: State = { turns: 0 };
  pi.on("turn_end", () => void state.turns++);
  pi.registerCommand("${name}", { description: "Tells the turns", handler: async () => void state.turns });
}
`;
}
