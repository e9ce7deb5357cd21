import { setTimeout as delay } from "node:timers/promises";
import type { ExtensionAPI } from "@pi-agent/kernel";

interface Options {
  everyMs?: number;
}

const WAIT = {
  type: "object",
  properties: { ms: { type: "integer", minimum: 0, default: 10_000, description: "How long" } },
  required: ["ms"],
} as const;

/** Does a little of everything, as it should be done. */
function sound(pi: ExtensionAPI, { everyMs = 60_000 }: Options = {}): void {
  let pieces = 0;
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearInterval(timer);
  const onExit = () => stop();
  pi.registerFlag("quiet", { type: "boolean", description: "Say less" });
  pi.on("session_start", () => {
    stop();
    timer = setInterval(() => {}, everyMs);
    process.on("exit", onExit);
  });
  pi.on("message_update", () => {
    pieces++;
  });
  pi.on("turn_end", async () => {
    await delay(1);
  });
  pi.on("context", ({ messages }) => ({ messages: messages.slice(-100) }));
  pi.events.on("news", () => {});
  pi.limitEffects({ ceiling: "execute", reason: "everything is allowed" });
  pi.declareHook("sound_made", { way: "notify" });
  pi.registerTool({
    name: "wait",
    description: "Waits for some milliseconds.",
    parameters: WAIT,
    effect: "read",
    async execute(_id, { ms }, signal, onUpdate) {
      onUpdate({ content: [{ type: "text", text: "Waiting." }] });
      await delay(ms, undefined, { signal });
      return { content: [{ type: "text", text: `Waited; ${pieces} pieces so far.` }] };
    },
  });
  pi.registerCommand("wipe", {
    description: "Forgets the pieces",
    async handler(_args, { ui }) {
      if (await ui.confirm("Forget?", "All of them.")) pieces = 0;
      else throw pi.error("not_confirmed", "Nothing was forgotten: nobody said yes.", { hint: "Say yes." });
    },
  });
  pi.onDispose(() => {
    stop();
    process.off("exit", onExit);
  });
}

export default Object.assign(sound, {
  options: { type: "object", properties: { everyMs: { type: "integer", minimum: 1, default: 60_000 } } },
});
