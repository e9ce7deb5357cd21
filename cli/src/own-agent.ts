/** What a program that is an agent of its own adds to the command: its file, its help, its version. */
import { readFileSync } from "node:fs";
import { createRequire, findPackageJSON } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { readAgentFile } from "@pi-agent/loader";
import type { OwnAgent } from "./choose-agent.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { HELP } from "./help.ts";
import { printError } from "./print-error.ts";

/** Readies the process as the command's own door does, and reads the file; tells what is wrong with it, and answers nothing. */
export async function openOwnAgent(file: string | URL): Promise<OwnAgent | undefined> {
  const door = createRequire(import.meta.url)("../bin/pi.js") as { prepare(): void };
  door.prepare();
  const isUrl = typeof file !== "string" || file.startsWith("file:");
  try {
    return { definition: await readAgentFile(isUrl ? fileURLToPath(file) : file) };
  } catch (thrown) {
    printError(thrown);
    process.exitCode = EXIT_CODES.failed;
    return undefined;
  }
}

/** The help of such a program: what it is, then what it shares with the command. */
export function describeOwnAgent({ definition: { name, description } }: OwnAgent): string {
  const first = description === undefined ? name : `${name}: ${description}`;
  return `${first}\n\nIt is made with pi-agent; what follows holds for it as for pi.\n\n${HELP}`;
}

/** The version of the package that the agent's file is in. */
export function versionOfOwn({ definition: { file } }: OwnAgent): string {
  const manifest = findPackageJSON(pathToFileURL(file));
  const { version } =
    manifest === undefined ? {} : (JSON.parse(readFileSync(manifest, "utf8")) as { version?: string });
  return version ?? "unknown";
}
