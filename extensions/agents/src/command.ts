import type { Command, CommandContext } from "@pi-agent/kernel";
import { OFF, toLine } from "./agent-file.ts";
import type { AgentInForce } from "./in-force.ts";
import { listForPerson, wordInForce } from "./words.ts";

/** Makes `/agent`: alone it lists, with a name it puts in force. */
export function createCommand(inForce: AgentInForce): Command {
  return {
    description: "the agents there are; /agent <name> puts one in force, /agent off none",
    getArgumentCompletions(prefix) {
      const agents = inForce
        .list()
        .map(({ name, description }) => ({ value: name, description: describe(description) }));
      const off = { value: OFF, description: "the default" };
      return [...agents, off].filter(({ value }) => value.startsWith(prefix.trimStart()));
    },
    async handler(args, ctx) {
      inForce.context = ctx;
      if (args === "") {
        const left = inForce.isGone ? inForce.plan?.file.name : undefined;
        ctx.ui.notify(listForPerson(inForce.list(), inForce.name, left), "info");
      } else await choose(inForce, args, ctx);
    },
  };
}

async function choose(inForce: AgentInForce, name: string, ctx: CommandContext): Promise<void> {
  // Under a run that is going on nobody becomes another.
  await ctx.waitForIdle();
  try {
    await inForce.use(name);
    ctx.ui.notify(inForce.plan ? wordInForce(inForce.plan) : "The default is in force.", "info");
  } catch (thrown) {
    const { message, hint } = thrown as Error & { hint?: string };
    ctx.ui.notify(hint === undefined ? message : `${message} ${hint}`, "error");
  }
}

function describe(description: string | undefined): string | undefined {
  return description === undefined ? undefined : toLine(description);
}
