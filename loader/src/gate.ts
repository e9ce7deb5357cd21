/**
 * The loader's own gate: file tools write to what decides over the agent only when the person agrees (E9, T7).
 *
 *   tool_call ─► touches.write ─► findProtection ─► nothing: goes on
 *                                       └► something: asked, or refused where nobody is there to ask
 *
 * 1. It is the last gate, so that it sees the arguments as the tool gets them.
 * 2. What a person agrees to is one call's writing to one path, as it really is.
 * 3. Tools that open files ask `gate.refusalOf` once more when they have the real path in hand.
 * 4. Reading is not looked at, nor is a shell, which can do what the account can.
 */
import type { Agent, Context } from "@pi-agent/kernel";
import type { LoaderHost } from "./host.ts";
import type { Places } from "./places.ts";
import { toPrintable } from "./printable.ts";
import { findProtection, type Guarded, type Protection } from "./protected-files.ts";

declare module "@pi-agent/kernel" {
  interface Services {
    gate: GateService;
  }
}

/** What file tools ask at the moment of writing. */
export interface GateService {
  /** Says why a call may not write to a path as it is by now; `undefined` when it may. Asks nobody. */
  refusalOf(toolCallId: string, path: string): string | undefined;
}

interface Guard {
  agent: Agent;
  host: LoaderHost;
  places: () => Places;
}

/** Sets the gate up for an agent and those that are made under it, and gives its host the service `gate`. */
export function installGate(guard: Guard): void {
  const { agent, host } = guard;
  /** Real paths that the person agreed to, by call. */
  const agreed = new Map<string, { runId: string; paths: readonly string[] }>();
  const adopt = (one: Agent) => {
    one.on("agent_settled", ({ runId }) => {
      for (const [id, each] of agreed) if (each.runId === runId) agreed.delete(id);
    });
    one.on("tool_call", ({ runId, toolCallId, toolName, touches }, ctx) => {
      agreed.delete(toolCallId);
      const written = touches?.write ?? [];
      if (written.length === 0) return undefined;
      const guarded = guardedBy(guard);
      const found = written.map((each) => findProtection(each, guarded)).filter(isProtected);
      if (found.length === 0) return undefined;
      const paths = found.map(({ path }) => path);
      return askAll(found, { toolName, ctx, onYes: () => void agreed.set(toolCallId, { runId, paths }) });
    });
  };
  const gate: GateService = {
    refusalOf(toolCallId, given) {
      const { path, what } = findProtection(given, guardedBy(guard));
      if (what === undefined || agreed.get(toolCallId)?.paths.includes(path)) return undefined;
      return wordRefusal({ path, what }, "nobody was asked about it");
    },
  };
  Object.assign(host, { gate: Object.freeze(gate), adopt });
  adopt(agent);
}

// What loads as the person's own although it lies in none of the agent's folders, because they named it.
function guardedBy({ agent, host, places }: Guard): Guarded {
  const extensions = agent.extensions.flatMap(({ owner: { path, scope } }) =>
    path !== undefined && OWN.has(scope) ? [{ path, kind: "extension" }] : [],
  );
  const texts = TEXTS.flatMap((kind) => host.resources.list(kind)).filter(({ scope }) => OWN.has(scope));
  return { places: places(), loaded: [...extensions, ...texts] };
}

const OWN: ReadonlySet<string> = new Set(["package", "user", "flag"]);
const TEXTS = ["skill", "prompt", "agent", "theme", "context-file", "system-prompt", "append-system-prompt"];

interface Asking {
  toolName: string;
  ctx: Context;
  onYes: () => void;
}

/** Asks about each path; the first that is not agreed to refuses the call. */
async function askAll(
  found: readonly Required<Protection>[],
  { toolName, ctx, onYes }: Asking,
): Promise<{ block: true; reason: string } | undefined> {
  for (const each of found) {
    if (!ctx.hasUI) return { block: true, reason: wordRefusal(each, "nobody is there to ask") };
    const title = `May the tool ${toPrintable(toolName)} write to ${toPrintable(each.path)}?`;
    const answer: unknown = await ctx.ui.confirm(title, `It ${each.what}.`, { signal: ctx.signal });
    // Anything but a yes is none.
    if (answer !== true) return { block: true, reason: wordRefusal(each, "the person did not agree") };
  }
  onYes();
  return undefined;
}

function isProtected(found: Protection): found is Required<Protection> {
  return found.what !== undefined;
}

function wordRefusal({ path, what }: Required<Protection>, why: string): string {
  return (
    `Nothing was written to ${toPrintable(path)}, which ${what}: file tools write there only when the person agrees, and ${why}. ` +
    "Do not try another way. Tell the person what is to be written there, so that they can do it."
  );
}
