/**
 * Runs what changes packages, where a person watches:
 *
 *   may the scope be changed? ─► work, with its progress ─► its question ─► what came of it ─► exit code
 *   a signal ─► the work stops ─► what holds now is told, within the time that a signal leaves
 */
import type { PackageContext, PackageProgress } from "@pi-agent/loader";
import type { BuiltInIo } from "../commands/built-in.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { printError } from "../print-error.ts";
import { toTerminalText } from "../terminal-text.ts";
import { watchInterruption } from "./interruption.ts";
import { createProgress, type Progress } from "./progress.ts";
import { type Answer, askPerson } from "./question.ts";
import type { PackageRequest } from "./request.ts";

/** What a command works with while it changes packages. */
export interface Operation {
  context: PackageContext;
  /** Shows what is to be done and answers whether it shall; `--yes` says so beforehand. */
  confirm: (lines: readonly string[], question: string) => Promise<boolean>;
  /** Tells why it was not done, after an answer that was no yes; answers the exit code. */
  tellDeclined: () => number;
  /** To be called once something was changed. */
  approve: () => Promise<void>;
}

/** Does the work and answers its exit code. Fails as the work does, unless a signal stopped it. */
export async function operate(
  io: BuiltInIo,
  request: PackageRequest,
  work: (operation: Operation) => Promise<number>,
): Promise<number> {
  const { packages, exit } = io;
  if (request.scope === "project" && packages.projectFault) throw packages.projectFault;
  const progress = createProgress();
  const interruption = watchInterruption((line) => {
    progress.end();
    process.stderr.write(`${line}\n`);
  });
  exit.before(() => (exit.signal.aborted ? interruption.happen() : undefined));
  const onProgress = (step: PackageProgress) => {
    interruption.note(step.step);
    progress.report(step);
  };
  let isDone = false;
  try {
    const code = await work(createOperation(io, request, { progress, onProgress }));
    isDone = true;
    return code;
  } catch (thrown) {
    if (!exit.signal.aborted) throw thrown;
    return EXIT_CODES.failed;
  } finally {
    progress.end();
    interruption.settle(isDone);
  }
}

function createOperation(
  io: BuiltInIo,
  request: PackageRequest,
  { progress, onProgress }: { progress: Progress; onProgress: PackageContext["onProgress"] },
): Operation {
  const { packages, exit } = io;
  let answer: Answer = "yes";
  return {
    context: { ...packages.context, signal: exit.signal, onProgress },
    async confirm(lines, question) {
      progress.clear();
      process.stderr.write(toTerminalText(`${lines.join("\n")}\n`));
      if (!request.has("--yes")) answer = await askPerson(question, exit.signal);
      return answer === "yes";
    },
    tellDeclined() {
      if (answer === "nobody") {
        const why = "it asks first, and nobody is here to answer";
        const hint = "--yes does what is shown above without asking";
        printError({ what: `pi ${request.command} changed nothing`, why, hint });
        return EXIT_CODES.usage;
      }
      // Of a signal something was told already.
      if (!exit.signal.aborted) process.stderr.write("Nothing was changed.\n");
      return answer === "interrupted" ? EXIT_CODES.SIGINT : EXIT_CODES.failed;
    },
    async approve() {
      if (request.scope === "project") await packages.approveChange();
    },
  };
}
