/** The adapter for pi-agent: its command in processes of its own, and its loader in one that embeds it. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Adapter, Outcome, SettingValues, Start, Way, WayId } from "../adapter.ts";
import type { TrustKind } from "../attack.ts";
import { MODEL, openGate, writeDriver, writeModels, writeSession, writeTyped } from "./agent-home.ts";
import { type CommandOptions, type CommandResult, runCommand } from "./run-command.ts";
import { createSdk, type SdkOptions } from "./sdk.ts";
import { fillSettings, type SettingShape } from "./settings-values.ts";

export interface PiAgentOptions {
  version: string;
  /** How the command is started. */
  command: readonly string[];
  sdk: SdkOptions;
  /** The schema of settings.json. */
  settings?: SettingShape;
}

interface Item {
  path: string;
  uncovered?: readonly string[];
}

const QUIET = { asks: false, reports: false, talks: false };
const TALKS = { asks: false, reports: true, talks: true };
const WAYS: readonly Way[] = [
  { id: "print", ...TALKS },
  { id: "json", ...TALKS },
  { id: "interactive", asks: true, reports: true, talks: true },
  { id: "sdk", ...TALKS },
  { id: "sdk-mode", asks: true, reports: true, talks: true },
  { id: "resume", ...TALKS },
  { id: "switch", ...TALKS },
  { id: "fork", ...TALKS },
  { id: "reload", ...TALKS, isLive: true },
  { id: "extension-flag", ...TALKS },
  { id: "help", ...QUIET },
  { id: "version", ...QUIET },
  { id: "unknown-flag", ...QUIET },
  { id: "list-models", ...QUIET, reports: true },
  { id: "doctor", ...QUIET, reports: true },
  { id: "prompt", ...QUIET, reports: true },
  { id: "trust-show", ...QUIET, reports: true, lists: true },
  { id: "trust-list", ...QUIET },
];
const SCRIPT = ["/usr/bin/script", "/bin/script"].find((path) => existsSync(path));

/** Makes the adapter. */
export function createPiAgentAdapter(options: PiAgentOptions): Adapter {
  const sdk = createSdk(options.sdk);
  const { settings, command } = options;
  // Every home is new; what Node compiled once is not compiled again for each.
  const compiled = mkdtempSync(join(tmpdir(), "attack-kit-compiled-"));
  const optionsOf = ({ cwd, env, home, timeoutMs }: Start): CommandOptions => {
    return { cwd, env: { HOME: home, NODE_COMPILE_CACHE: compiled, ...env }, timeoutMs };
  };
  const run = async (start: Start, ...args: string[]): Promise<string> => {
    writeModels(start);
    const { code, stdout, stderr } = await runCommand([...command, ...args], optionsOf(start));
    if (code !== 0) throw new Error(`pi ${args.join(" ")} ended with ${code}: ${stdout}${stderr}`);
    return stdout;
  };
  return {
    name: "pi-agent",
    version: options.version,
    ways: WAYS.filter(({ id }) => id !== "interactive" || SCRIPT !== undefined),
    missing: {
      rpc: "pi-agent has no RPC mode yet",
      ...(SCRIPT === undefined && { interactive: "skipped: needs script, of util-linux" }),
    },
    async start(way, start) {
      writeModels(start);
      const flags = start.approve ? ["--approve"] : [];
      if (way === "sdk" || way === "sdk-mode") return judgeText(await sdk.start(start, way === "sdk-mode"));
      if (way === "interactive") return talk(command, flags, { prompts: start.prompts, options: optionsOf(start) });
      const gate = await openGate(start.meanwhile);
      try {
        if (way === "reload" || way === "switch" || way === "fork") writeDriver(start, gate.url);
        const { cwd = start.cwd, args } = argumentsOf(way, start);
        return judgeText(await runCommand([...command, ...flags, ...args], { ...optionsOf(start), cwd }));
      } finally {
        await gate.close();
      }
    },
    async trust(start, kind) {
      await run(start, ...answerArguments(kind));
    },
    async uncovered(start) {
      const { items } = JSON.parse(await run(start, "trust", "show", "--json")) as { items: Item[] };
      return items.flatMap(({ path, uncovered = [] }) => (uncovered.length > 0 ? [path] : []));
    },
    settings: settings && ((values: SettingValues) => fillSettings(settings, values)),
    async close() {
      await sdk.close();
      rmSync(compiled, { recursive: true, force: true });
    },
  };
}

function answerArguments(kind: TrustKind): string[] {
  if (kind === "text") return ["trust", "text"];
  return kind === "folder" ? ["trust", "yes", "--folder"] : ["trust", "yes"];
}

function argumentsOf(way: WayId, start: Start): { cwd?: string; args: string[] } {
  const ask = ["-p", "--model", MODEL, ...start.args];
  const { cwd, elsewhere, prompts } = start;
  const words = ["--", ...prompts];
  switch (way) {
    case "json":
      return { args: [...ask, "--mode", "json", ...words] };
    case "resume":
      return { cwd: elsewhere, args: [...ask, "--session", writeSession(start, cwd), ...words] };
    case "switch":
      return { cwd: elsewhere, args: [...ask, "--", `/kit-switch ${writeSession(start, cwd)}`, ...prompts] };
    case "fork":
      return { args: [...ask, "--", ...prompts, "/kit-fork", ...prompts] };
    case "reload":
      return { args: [...ask, "--", "/kit-reload", ...prompts] };
    case "extension-flag":
      return { args: [...ask, "-e", writeTyped(start), ...words] };
    case "help":
      return { args: ["--help"] };
    case "version":
      return { args: ["--version"] };
    case "unknown-flag":
      return { args: ["-p", "--fourteen-unknown", "hello"] };
    case "list-models":
      return { args: ["--list-models"] };
    case "doctor":
      return { args: ["doctor"] };
    case "prompt":
      return { args: ["prompt", "--text"] };
    case "trust-show":
      return { args: ["trust", "show"] };
    case "trust-list":
      return { args: ["trust", "list"] };
    default:
      return { args: [...ask, ...words] };
  }
}

/** Talks at a terminal: Enter at every question, the prompts at the greeting, then out. */
async function talk(
  command: readonly string[],
  flags: readonly string[],
  { prompts, options }: { prompts: readonly string[]; options: CommandOptions },
): Promise<Outcome> {
  const line = ["exec", ...[...command, "--model", MODEL, ...flags].map(quote)].join(" ");
  const keys = [...prompts.map((prompt) => `${prompt.replaceAll("\n", " ")}\r`), "/quit\r"];
  let read = 0;
  let asked = false;
  const type = (printed: string): string | undefined => {
    const fresh = toPlain(printed.slice(read));
    const isQuestion = /^Number: $/m.test(fresh.slice(fresh.lastIndexOf("\n") + 1));
    if (!isQuestion && !fresh.endsWith("\n> ")) return undefined;
    read = printed.length;
    if (!isQuestion) return keys.shift();
    asked = true;
    return "\r";
  };
  const result = await runCommand([SCRIPT ?? "script", "-qfec", line, "/dev/null"], { ...options, type });
  return { ...judgeText(result), asked };
}

/** What a terminal would show, without colours and moves. */
function toPlain(printed: string): string {
  // oxlint-disable-next-line no-control-regex -- terminal sequences begin with one
  return printed.replaceAll(/\u001b\[[\d;?]*[a-z]/gi, "").replaceAll("\r", "");
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function judgeText(result: CommandResult & { asked?: boolean }): Outcome {
  const said = `${result.stdout}\n${result.stderr}`;
  return {
    ...result,
    asked: result.asked ?? false,
    reported: /held|refused|not loaded|was not|inside the project|part of the project/i.test(said),
  };
}
