/** The attack kit's adapter for Pi's published package. */
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type Adapter,
  type CommandResult,
  MODEL,
  type Outcome,
  openGate,
  runCommand,
  type Start,
  type Way,
  type WayId,
  writeDriver,
  writeModels,
  writeSession,
  writeTyped,
} from "../attack-kit/src/index.ts";

const QUIET = { asks: false, reports: false, talks: false };
const TALKS = { asks: false, reports: true, talks: true };
const WAYS: readonly Way[] = [
  { id: "print", ...TALKS },
  { id: "json", ...TALKS },
  { id: "rpc", ...TALKS },
  { id: "sdk", ...TALKS },
  { id: "resume", ...TALKS },
  { id: "switch", ...TALKS },
  { id: "fork", ...TALKS },
  { id: "reload", ...TALKS, isLive: true },
  { id: "extension-flag", ...TALKS },
  { id: "help", ...QUIET },
  { id: "version", ...QUIET },
  { id: "unknown-flag", ...QUIET },
  { id: "list-models", ...QUIET },
];
const NO_SUCH_COMMAND = "Pi has no such command";
// A start takes about a second; what takes this long hangs.
const PATIENCE_MS = 20_000;

/** Makes the adapter for the package in this `node_modules`. */
export function createPiAdapter(modules: string): Adapter {
  const folder = join(modules, "@earendil-works", "pi-coding-agent");
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  const command = [process.execPath, join(folder, "dist", "bundle", "cli.js")];
  return {
    name: "Pi",
    version,
    ways: WAYS,
    missing: {
      interactive: "its full screen is not driven here",
      "sdk-mode": "its library has no question",
      doctor: NO_SUCH_COMMAND,
      prompt: NO_SUCH_COMMAND,
      "trust-show": NO_SUCH_COMMAND,
      "trust-list": NO_SUCH_COMMAND,
    },
    async start(way, start) {
      prepare(start);
      if (way === "sdk") return toOutcome(await embed(join(folder, "dist", "index.js"), start));
      const gate = await openGate(start.meanwhile);
      try {
        if (way === "reload" || way === "switch" || way === "fork") writeDriver(start, gate.url);
        const { cwd = start.cwd, args } = argumentsOf(way, start);
        const flags = start.approve ? ["--approve"] : [];
        const talk = way === "rpc" ? talkOverPipes(start.prompts) : {};
        return toOutcome(await runCommand([...command, ...args, ...flags], { ...optionsOf(start), cwd, ...talk }));
      } finally {
        await gate.close();
      }
    },
    async trust(start) {
      // What its "Trust" stores.
      merge(join(start.agentDir, "trust.json"), { [realpathSync(start.cwd)]: true });
    },
  };
}

function prepare(start: Start): void {
  writeModels(start);
  const [defaultProvider, defaultModel] = MODEL.split("/");
  merge(join(start.agentDir, "settings.json"), { defaultProvider, defaultModel, quietStartup: true });
}

function optionsOf({ cwd, home, env, timeoutMs }: Start) {
  const own = { HOME: home, PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" };
  return { cwd, env: { ...own, ...env }, timeoutMs: Math.min(timeoutMs, PATIENCE_MS) };
}

function argumentsOf(way: WayId, start: Start): { cwd?: string; args: string[] } {
  const { cwd, elsewhere, prompts } = start;
  const ask = ["-p", "--model", MODEL, ...start.args];
  switch (way) {
    case "json":
      return { args: ["--mode", "json", ...ask, ...prompts] };
    case "rpc":
      return { args: ["--mode", "rpc", "--model", MODEL, ...start.args] };
    case "resume":
      return { cwd: elsewhere, args: [...ask, "--session", writeSession(start, cwd), ...prompts] };
    case "switch":
      return { cwd: elsewhere, args: [...ask, `/kit-switch ${writeSession(start, cwd)}`, ...prompts] };
    case "fork":
      return { args: [...ask, ...prompts, "/kit-fork", ...prompts] };
    case "reload":
      return { args: [...ask, "/kit-reload", ...prompts] };
    case "extension-flag":
      return { args: [...ask, "-e", writeTyped(start), ...prompts] };
    case "help":
      return { args: ["--help"] };
    case "version":
      return { args: ["--version"] };
    case "unknown-flag":
      return { args: ["-p", "--fourteen-unknown", "hello"] };
    case "list-models":
      return { args: ["--list-models"] };
    default:
      return { args: [...ask, ...prompts] };
  }
}

/** Sends one prompt after another, each when the one before it is answered, then closes the pipe. */
function talkOverPipes(prompts: readonly string[]) {
  const lines = prompts.map((message, id) => `${JSON.stringify({ id: String(id), type: "prompt", message })}\n`);
  let answered = 0;
  const type = (printed: string): string | null | undefined => {
    const count = printed.split('"type":"agent_settled"').length - 1;
    if (count <= answered) return undefined;
    answered = count;
    return lines.shift() ?? null;
  };
  return { first: lines.shift(), type };
}

/** A program that embeds Pi and says nothing about trust. */
async function embed(library: string, start: Start): Promise<CommandResult> {
  const { cwd, agentDir, prompts } = start;
  const code = `
    const { createAgentSession } = await import(${JSON.stringify(library)});
    const { session } = await createAgentSession(${JSON.stringify({ cwd, agentDir })});
    for (const prompt of ${JSON.stringify(prompts)}) await session.prompt(prompt);
    session.dispose();
    process.exit(0);`;
  return runCommand([process.execPath, "--input-type=module", "-e", code], {
    ...optionsOf(start),
    cwd: dirname(agentDir),
  });
}

function toOutcome(result: CommandResult): Outcome {
  return { ...result, asked: false, reported: /trust|refused|held back|outside/i.test(result.stderr) };
}

function merge(path: string, values: Record<string, unknown>): void {
  const before = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>) : {};
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ ...before, ...values }));
}
