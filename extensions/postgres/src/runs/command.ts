import type { CliCommand, CliIo } from "@pi-agent/kernel";
import { FORMS, type Form, type RunsArguments, readArguments, USAGE } from "./arguments.ts";
import { list } from "./list.ts";
import { runsError } from "./problem.ts";
import { replay } from "./replay.ts";
import { type Resumed, resume } from "./resume.ts";
import { show } from "./show.ts";
import type { OpenRuns, RunsSource } from "./source.ts";
import { stats } from "./stats.ts";

type Part = (source: RunsSource, args: RunsArguments, io: CliIo) => Promise<number | Resumed>;

const PARTS: Record<keyof typeof FORMS, Part> = { list, show, replay, resume, stats };

/** Makes the command `pi runs`. It fails with errors that say what happened, why, and what to do. */
export function createRunsCommand(open: OpenRuns): CliCommand {
  return {
    summary: "what agents did: list, show, replay, resume, stats",
    async run(args, io) {
      const [name, rest] = args[0]?.startsWith("-") === false ? [args[0], args.slice(1)] : ["list", args];
      if (name === "help") {
        io.stdout.write(USAGE);
        return 0;
      }
      if (!isPart(name))
        throw runsError("flag_value", `pi runs cannot "${name}".`, `It can: ${Object.keys(PARTS).join(", ")}.`);
      const read = readArguments(name, FORMS[name] as Form, rest);
      const source = await open();
      try {
        return await PARTS[name](source, read, io);
      } finally {
        await source.close();
      }
    },
  };
}

function isPart(name: string): name is keyof typeof FORMS {
  return Object.hasOwn(FORMS, name);
}
