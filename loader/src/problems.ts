/** Problems of a load, each in three parts: what happened and why, and what to do. */
import { AgentError } from "@pi-agent/kernel";
import type { Found } from "./discover.ts";
import type { FileProblem } from "./jsonc.ts";
import type { LoadPlan, PlanItem } from "./plan.ts";
import { toPrintable } from "./printable.ts";
import type { WithheldSetting } from "./settings-grades.ts";
import type { StoredTrust } from "./trust-store.ts";

/** Words what is wrong in a file of the person's own, with its place. */
export function wordFileProblem({ path, line, column, message, hint }: FileProblem): AgentError {
  const place = line === undefined ? "" : `:${line}:${column ?? 1}`;
  return new AgentError("file_problem", `${path}${place}: ${message}`, { hint });
}

/** Words that an agent directory inside the project speaks for nobody. */
export function wordForeign(folder: string, boundary: string): AgentError {
  const message = `The agent directory ${folder} lies inside the project ${boundary}, so nothing in it counts as your own.`;
  return new AgentError("agent_dir_inside", message, {
    hint: "Keep it outside of projects, or leave PI_CODING_AGENT_DIR unset.",
  });
}

/** Words why a resource of the person's own was left out. */
export function wordRefusal({ path, refusal }: Found): AgentError {
  return new AgentError("resource_refused", `${toPrintable(path)} was left out: it ${refusal}.`, {
    hint: "Put a file of your own there, or take it away.",
  });
}

/** Words why a setting of a trusted project is not in force. */
export function wordWithheld({ key, reason }: WithheldSetting): AgentError {
  return new AgentError(
    "setting_withheld",
    `The project's setting ${toPrintable(key)} is not in force: it ${reason}.`,
    {
      hint: "Set it in your own settings if you want it.",
    },
  );
}

const SLOW = "Do the work elsewhere, or keep what it found.";

/** Words what an extension did wrong during the start. */
export function wordExtensionFault(
  event: string,
  { owner, error, code }: { owner: string; error: string; code: string },
): AgentError {
  if (code === "name_taken") {
    return new AgentError(code, error, { hint: "Rename one of the two, or leave one out.", owner });
  }
  if (code === "hook_slow")
    return new AgentError(code, `${owner} is slow on ${event}: ${error}`, { hint: SLOW, owner });
  const hint = `The start went on without it. Look at what it does on ${event}.`;
  return new AgentError(code, `${owner} failed on ${event}: ${error}`, { hint, owner });
}

/** Words why a path inside the project that was typed with -e cannot be loaded. */
export function wordTypedRefusal({ path, reason, hint }: PlanItem): AgentError {
  return new AgentError("extension_refused", `${toPrintable(path)} was asked for with -e, and ${reason}.`, {
    hint: hint ?? "Name a .ts or .js file, or a folder that is an extension.",
  });
}

/** Words that a session from elsewhere moved the working directory, and that `--approve` was not for that place. */
export function wordMoved({
  from,
  to,
  isApproveLost,
}: {
  from: string;
  to: string;
  isApproveLost: boolean;
}): AgentError {
  const place = toPrintable(to);
  const lost = isApproveLost ? " --approve does not speak for that project, and counts as not given." : "";
  const message = `The session belongs to ${place}: work goes on there, not in ${toPrintable(from)} where you started.${lost}`;
  const hint = isApproveLost ? `To approve that project, start in ${place}.` : "To stay, start a new session here.";
  return new AgentError("session_moved", message, { hint });
}

/** Words that the question about trust could not be asked. */
export function wordQuestionFault(fault: unknown): AgentError {
  const why = fault instanceof Error ? fault.message : String(fault);
  return new AgentError("trust_question", `The question about trust failed: ${why}.`, {
    hint: "Nothing was approved. Start again, or say --approve or --no-approve.",
    cause: fault,
  });
}

/** Words that `--trust` names another content than the project has. */
export function wordPin(pin: string, { digest }: LoadPlan): AgentError {
  return new AgentError(
    "trust_pin",
    `--trust ${toPrintable(pin)} names another content: the project is ${digest} now.`,
    {
      hint: "Look at what changed with pi trust show, then name the new digest.",
    },
  );
}

/** Words that a context file is no longer as it was when something was decided. */
export function wordChangedContext({ path }: PlanItem): AgentError {
  const message = `${toPrintable(path)} changed since you decided about the project; the model reads it as it is now.`;
  return new AgentError("context_changed", message, {
    hint: "Look at it: pi trust diff. To hold such files, set contextFiles to trusted.",
  });
}

/** Words why a trust file does not say what it seems to say. */
export function wordNote({ path, message }: StoredTrust["notes"][number]): AgentError {
  return new AgentError("trust_file", `${path}: ${message}.`, {
    hint: "Mend it or take it away: until then no yes about this project counts.",
  });
}
