import { MARK_VARIABLE } from "./process-tree.ts";

/** Addresses of databases carry their password. */
const DATABASE_URL = /(?:^|_)DATABASE_URL$/;
/** No such program exists, so that whatever wants an editor fails at once and says why. */
const NO_EDITOR = "no-editor-in-this-shell";

const EDITORS = ["EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "KUBE_EDITOR"];

export interface ShellSession {
  sessionId?: string;
  sessionFile?: string;
  provider?: string;
  model?: string;
  reasoningLevel?: string;
}

/** Makes a command's environment: the given one without secrets, and what tells the command where it runs. */
export function shellEnvironment(
  inherited: NodeJS.ProcessEnv,
  more: { secretNames: readonly string[]; session: ShellSession; mark: string },
): NodeJS.ProcessEnv {
  const env = { ...inherited };
  for (const name of more.secretNames) delete env[name];
  for (const name of Object.keys(env)) if (DATABASE_URL.test(name)) delete env[name];
  for (const name of EDITORS) env[name] = NO_EDITOR;
  env.GIT_TERMINAL_PROMPT = "0";
  env[MARK_VARIABLE] = inherited[MARK_VARIABLE] ? `${inherited[MARK_VARIABLE]},${more.mark}` : more.mark;

  const { session } = more;
  const told = {
    PI_SESSION_ID: session.sessionId,
    PI_SESSION_FILE: session.sessionFile,
    PI_PROVIDER: session.provider,
    PI_MODEL: session.model,
    PI_REASONING_LEVEL: session.reasoningLevel,
  };
  for (const [name, value] of Object.entries(told)) {
    if (value === undefined) delete env[name];
    else env[name] = value;
  }
  return env;
}
