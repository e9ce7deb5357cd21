/**
 * What happens to the agent in force when the session changes under it.
 *
 *   start, resume, fork ── the session's own agent, else the present one goes on
 *   reload, trust       ── its file is looked at anew
 *   a run begins        ── the session remembers it
 */
import type { Context, ExtensionAPI, HookEvent, HookResult } from "@pi-agent/kernel";
import { listAgents } from "./catalog.ts";
import type { AgentInForce } from "./in-force.ts";
import { isSameRecord, RECORD, readRecord, toData } from "./session-record.ts";
import { isTyped } from "./typed-tools.ts";
import { wordClash } from "./words.ts";

/** Follows the session. */
export function followSession(pi: ExtensionAPI, inForce: AgentInForce): void {
  const told = new Set<string>();
  const tellClashes = ({ ui }: Context) => {
    for (const clash of listAgents(pi.service("resources")).losers) {
      const words = wordClash(clash);
      if (!told.has(words)) ui.notify(words, "warning");
      told.add(words);
    }
  };
  pi.on("session_start", async ({ reason }, ctx) => {
    inForce.context = ctx;
    if (reason === "startup" || reason === "reload") tellClashes(ctx);
    if (reason === "reload") return inForce.renew(ctx);
    const record = readRecord(ctx);
    if (reason === "startup" && inForce.wasNamed) return inForce.takeUp(record);
    const name = pi.getFlag("agent");
    if (reason === "startup" && typeof name === "string" && name !== "") return useFlag(inForce, name);
    if (typeof record?.name !== "string" || isSameRecord(inForce.record, record)) inForce.hold();
    else await inForce.restore({ ...record, name: record.name }, ctx);
  });
  pi.on("resources_changed", async ({ reason }, ctx) => {
    if (reason !== "reload") await inForce.renew(ctx);
  });
  pi.on("before_agent_start", (event, ctx) => prepareRun({ pi, inForce }, event, ctx));
}

/** For whoever starts without the command: an agent that cannot be had is not the default one. */
async function useFlag(inForce: AgentInForce, name: string): Promise<void> {
  try {
    await inForce.use(name);
  } catch (thrown) {
    inForce.refuse(() => {
      throw thrown;
    });
    throw thrown;
  }
}

function prepareRun(
  { pi, inForce }: { pi: ExtensionAPI; inForce: AgentInForce },
  { systemPrompt }: HookEvent<"before_agent_start">,
  ctx: Context,
): HookResult<"before_agent_start"> | undefined {
  if (!inForce.wasChanged) return undefined;
  inForce.narrow();
  const { record } = inForce;
  if (!isSameRecord(record, readRecord(ctx))) pi.appendEntry(RECORD, toData(record));
  const prompt = inForce.plan?.file.prompt;
  // A package that writes system prompts has it from the resources.
  if (!prompt || systemPrompt.includes(prompt) || isTyped(pi, ["system-prompt"])) return undefined;
  return { systemPrompt: `${prompt}\n\n${systemPrompt}`.trim() };
}
