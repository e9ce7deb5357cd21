/** One loaded copy of an extension, in an agent of its own with a model that follows a script. */
import { randomBytes } from "node:crypto";
import {
  type Agent,
  type AgentError,
  createAgent,
  type ExtensionAPI,
  type ExtensionReport,
  type Host,
  type Json,
  type Kind,
  type Owner,
} from "@pi-agent/kernel";
import { scriptedProvider } from "../scripted-provider.ts";
import { type TempProject, tempProject } from "../temp-project.ts";
import type { Turn } from "../wire-server/turn.ts";
import { type AbsentUi, createAbsentUi } from "./absent-ui.ts";
import type { Subject } from "./options.ts";
import { createUse, type Use, watchExtension } from "./watched-api.ts";

const DEFAULT_GRACE_MS = 2_000;
/** Long enough not to be part of any other word. */
const NAME_LENGTH = 12;

export interface Instance extends AsyncDisposable {
  /** Whom the extension is loaded as: another name each time, so that none can know the suite by it. */
  owner: Owner;
  agent: Agent;
  ui: AbsentUi;
  use: Use;
  report: ExtensionReport;
  /** What the agent told that the extension did wrong, and where. */
  failures: { event: string; code: string; message: string }[];
  /** The same as errors. */
  errors: AgentError[];
  /** Listeners that it left at `settings.onChange` of its host. */
  settingsListeners: Set<unknown>;
  /** Speaks on a channel of the bus as another extension. */
  emit(channel: string, data: unknown): void;
  /** What the model does at the next requests; afterwards it answers "Done.". */
  plan: Turn[];
}

/** Makes an agent and loads the extension into it. `isBare`: in the host that the kernel makes of nothing. */
export async function openInstance(subject: Subject, { isBare = false } = {}): Promise<Instance> {
  const { given } = subject;
  const project = await tempProject({ files: given.files });
  const ui = createAbsentUi();
  const plan: Turn[] = [];
  const settingsListeners = new Set<unknown>();
  let neighbour: ExtensionAPI | undefined;
  const agent = createAgent({
    extensions: [
      ...(given.with ?? []),
      (pi: ExtensionAPI) => {
        neighbour = pi;
      },
      scriptedProvider(() => plan.shift() ?? { text: "Done." }),
    ],
    model: "scripted/scripted",
    graceMs: given.graceMs ?? DEFAULT_GRACE_MS,
    host: isBare ? undefined : hostOf(subject, project, { ui, settingsListeners }),
  });
  const owner = nameOwner();
  const noted = noteFailures(agent, owner);
  await agent.ready();
  const use = createUse();
  const report = await load(agent, subject, { owner, use });
  return {
    owner,
    agent,
    ui,
    use,
    report,
    ...noted,
    settingsListeners,
    emit: (channel, data) => neighbour!.events.emit(channel, data),
    plan,
    async [Symbol.asyncDispose]() {
      await agent.dispose();
      await project.cleanup();
    },
  };
}

/** A name such as a package might have. */
function nameOwner(): Owner {
  const letters = Array.from(randomBytes(NAME_LENGTH), (byte) => String.fromCharCode(97 + (byte % 26)));
  return { name: letters.join(""), scope: "package" };
}

/** Puts one word in the place of an instance's own name, so that what two of them say can be compared. */
export function anonymous({ name }: Owner, text: string): string {
  return text.replaceAll(name, "the extension");
}

/** Loads the extension into an agent; with `replace` in the place of the copy that is there. */
export async function load(
  agent: Agent,
  { extension, given }: Subject,
  { owner, use, replace = false }: { owner: Owner; use: Use; replace?: boolean },
): Promise<ExtensionReport> {
  const entry = { extension: watchExtension(extension, use), options: given.options, owner: { ...owner } };
  const [report] = await agent.extend([entry], { replace });
  return report!;
}

function hostOf(
  { given }: Subject,
  project: TempProject,
  { ui, settingsListeners }: Pick<Instance, "ui" | "settingsListeners">,
): Partial<Host> {
  const settings = new Map<string, Json>();
  return {
    settings: {
      get: (key) => settings.get(key),
      set: async (key, value) => void settings.set(key, value),
      onChange(listener) {
        const record = { listener };
        settingsListeners.add(record);
        return () => void settingsListeners.delete(record);
      },
    },
    ...given.host,
    cwd: project.path,
    hasUI: false,
    ui,
  };
}

function noteFailures(agent: Agent, subject: Owner): Pick<Instance, "failures" | "errors"> {
  const failures: Instance["failures"] = [];
  const errors: AgentError[] = [];
  agent.on("extension_error", ({ owner, event, code, error: message }) => {
    if (owner === subject.name) failures.push({ event, code, message: anonymous(subject, message) });
  });
  agent.on("fault", ({ owner, error }) => {
    if (owner === subject.name) errors.push(error as AgentError);
  });
  return { failures, errors };
}

/** The kernel's own kinds; an extension may add others by registering under them. */
const KINDS: readonly Kind[] = [
  "tool",
  "command",
  "flag",
  "shortcut",
  "cli",
  "api",
  "provider",
  "model",
  "section",
  "service",
  "mode",
  "message-renderer",
  "entry-renderer",
  "tool-renderer",
  "theme",
  "projector",
  "resource-kind",
  "settings",
  "module",
];

/** Lists what the extension has registered, as `kind name`. */
export function listRegistrations({ owner: subject, agent, use }: Instance): string[] {
  const registered = [...new Set([...KINDS, ...use.kinds])].flatMap((kind) =>
    [...agent.registry(kind).values()]
      .filter(({ owner }) => owner.name === subject.name)
      .map(({ name }) => `${kind} ${name}`),
  );
  const limits = use.limits.filter((limit) => agent.state.limits.includes(limit));
  return [...registered, ...limits.map(({ reason }) => `limit ${reason}`)].map((each) => anonymous(subject, each));
}
