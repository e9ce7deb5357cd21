import type { CommandContext, Context, Owner, Ui } from "./contract.ts";
import type { Core } from "./core.ts";
import { AgentError } from "./errors.ts";
import { offTheClock } from "./frames.ts";
import { contextUsage, estimateTokens } from "./tokens.ts";

/** What handlers and tools see of the agent: every member tells how it is now. `live` fails once their owner is gone. */
export function createContext(core: Core, owner: Owner, live: () => void = () => {}): Context {
  const now = () => {
    live();
    return core;
  };
  let ui: { of: Ui; unhurried: Ui } | undefined;
  return {
    get cwd() {
      return now().host.cwd;
    },
    get mode() {
      return now().host.mode;
    },
    get hasUI() {
      return now().host.hasUI;
    },
    get ui() {
      const { ui: of } = now().host;
      if (ui?.of !== of) ui = { of, unhurried: unhurried(core, of) };
      return ui.unhurried;
    },
    get signal() {
      return now().run?.signal ?? core.exclusives.signal;
    },
    get model() {
      return now().model && core.modelCopy();
    },
    get thinkingLevel() {
      return now().thinkingLevel;
    },
    get transcript() {
      return now().transcript.view;
    },
    get sessionId() {
      return now().sessionId;
    },
    isIdle: () => now().run === undefined && core.activity === "idle",
    hasPendingMessages: () => !now().queue.isEmpty,
    abort: () => now().abortRun(),
    shutdown: () => now().host.shutdown(),
    getContextUsage: () => contextUsage(now()),
    estimateTokens: (messages) => (live(), estimateTokens(messages)),
    async compact(options) {
      const compaction = now().service("compaction");
      if (!compaction) throw noCompaction();
      return offTheClock(() => compaction.compact(options));
    },
    getSystemPrompt: () => now().systemPrompt,
    isProjectTrusted: () => now().host.isProjectTrusted(),
    exclusive: (activity, fn) => now().exclusive(activity, fn, owner),
    createAgent: (options) => now().children.spawn(options),
  };
}

/** What a command's handler gets beside that. */
export function createCommandContext(core: Core, context: Context, settled: () => Promise<void>): CommandContext {
  // Reading a member of the context fails once its owner is gone.
  const host = () => (context.cwd, core.host);
  const more: Omit<CommandContext, keyof Context> = {
    waitForIdle: async () => (host(), settled()),
    newSession: (options) => host().newSession(options),
    fork: (entryId, options) => host().fork(entryId, options),
    switchSession: (path) => host().switchSession(path),
    navigateTree: (entryId, options) => host().navigateTree(entryId, options),
    reload: () => host().reload(),
  };
  return Object.defineProperties(more, Object.getOwnPropertyDescriptors(context)) as CommandContext;
}

const QUESTIONS = ["select", "confirm", "input", "editor", "custom"] as const;
type Question = (typeof QUESTIONS)[number];

/** A person may take their time: a handler's clock stands still while it waits for an answer. */
function unhurried(core: Core, ui: Ui): Ui {
  // Of an empty target: a host may have frozen its own.
  return new Proxy({} as Ui, {
    get(_, name) {
      const member: unknown = Reflect.get(ui, name);
      if (typeof member !== "function") return member;
      if (!QUESTIONS.includes(name as Question)) return member.bind(ui) as unknown;
      const kind = name as Question;
      return (...question: unknown[]) =>
        offTheClock(() => asked(core, { kind, title: titleOf(question) }, () => member.apply(ui, question)));
    },
  });
}

/** Tells when the first of the questions that overlap begins, and when the last of them ends. */
async function asked(
  core: Core,
  { kind, title }: { kind: Question; title: string | undefined },
  ask: () => Promise<unknown>,
): Promise<unknown> {
  const prompt = { reason: "ui_prompt" as const, kind, title };
  if (core.openQuestions++ === 0) void core.tell({ type: "ui_prompt_start", ...prompt });
  try {
    return await ask();
  } finally {
    if (--core.openQuestions === 0) void core.tell({ type: "ui_prompt_end", ...prompt });
  }
}

function titleOf([first]: unknown[]): string | undefined {
  return typeof first === "string" ? first : undefined;
}

function noCompaction(): AgentError {
  return new AgentError("no_service", "Nothing that is loaded can compact the conversation.", {
    hint: "Install a package that provides the service `compaction`, such as @pi-agent/compaction.",
  });
}
