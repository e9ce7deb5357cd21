/** `pi remove <source>`: takes a package away, with its entries in the settings and in the lock file. */
import { removePackage } from "@pi-agent/loader";
import { EXIT_CODES } from "../exit-codes.ts";
import { withOtherScope } from "../packages/find-package.ts";
import { operate } from "../packages/operate.ts";
import { refuse } from "../packages/refuse.ts";
import { isProblem, readRequest, wordRefusal } from "../packages/request.ts";
import { toTerminalName } from "../terminal-text.ts";
import type { BuiltInIo } from "./built-in.ts";

const FORM = { command: "remove", switches: ["--local", "--yes"], mostWords: 1 };

/** Removes what was typed; answers the exit code. Nobody is asked: pi install brings it back. */
export async function runRemove(args: readonly string[], io: BuiltInIo): Promise<number> {
  const request = readRequest(args, FORM, io.host.flags);
  if (isProblem(request)) return refuse(request);
  const [text] = request.words;
  if (text === undefined) return refuse(wordRefusal("remove", "it takes the package to remove"));
  const { scope } = request;
  const { cwd } = io.host;
  return operate(io, request, async ({ context, approve }) => {
    const wish = { context, command: ["remove"] as const, text, scope, cwd };
    const { source, isStillIn } = await withOtherScope(removePackage(context, text, { scope, cwd }), wish);
    await approve();
    io.output.write(`Removed ${toTerminalName(source)}\n`);
    if (isStillIn) {
      const [whose, flag] =
        isStillIn === "user" ? ["You still have it, for all projects", ""] : ["This project still has it", " -l"];
      io.output.write(`${whose}: pi remove${flag} ${toTerminalName(source)} takes that away too.\n`);
    }
    return EXIT_CODES.answered;
  });
}
