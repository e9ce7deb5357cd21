import type { CommandContext, Context, Ui } from "./contract.ts";
import type { Core } from "./core.ts";
import { AgentError } from "./errors.ts";
import { offTheClock } from "./hooks.ts";
import { contextTokens, estimateTokens } from "./tokens.ts";

/** What handlers and tools see of the agent. Every member tells how it is now. */
export function createContext(core: Core): Context {
  let ui: { of: Ui; unhurried: Ui } | undefined;
  return {
    get cwd() {
      return core.host.cwd;
    },
    get mode() {
      return core.host.mode;
    },
    get hasUI() {
      return core.host.hasUI;
    },
    get ui() {
      const { ui: of } = core.host;
      if (ui?.of !== of) ui = { of, unhurried: unhurried(of) };
      return ui.unhurried;
    },
    get signal() {
      return core.run?.signal;
    },
    get model() {
      return core.model;
    },
    transcript: core.transcript,
    get sessionId() {
      return core.sessionId;
    },
    isIdle: () => core.run === undefined && core.activity === "idle",
    abort: () => core.run?.abort(),
    shutdown: () => core.host.shutdown(),
    getContextUsage() {
      if (!core.model) return undefined;
      const { contextWindow } = core.model;
      const tokens = contextTokens(core.transcript.project());
      return { tokens, contextWindow, percent: (100 * tokens) / contextWindow };
    },
    estimateTokens,
    async compact(options) {
      const compaction = core.service("compaction");
      if (!compaction) throw noCompaction();
      return offTheClock(() => compaction.compact(options));
    },
    getSystemPrompt: () => core.systemPrompt,
    isProjectTrusted: () => core.host.isProjectTrusted(),
    exclusive: (activity, fn) => core.exclusive(activity, fn),
    createAgent: (options) => core.spawn(options),
  };
}

/** What a command's handler gets beside that. */
export function createCommandContext(core: Core, context: Context, settled: () => Promise<void>): CommandContext {
  const more: Omit<CommandContext, keyof Context> = {
    waitForIdle: settled,
    newSession: (options) => core.host.newSession(options),
    fork: (entryId, options) => core.host.fork(entryId, options),
    switchSession: (path) => core.host.switchSession(path),
    reload: () => core.host.reload(),
    async navigateTree(entryId) {
      await settled();
      core.transcript.moveTo(entryId);
      return { cancelled: false };
    },
  };
  return Object.defineProperties(more, Object.getOwnPropertyDescriptors(context)) as CommandContext;
}

/** A person may take their time: a handler's clock stands still while it waits for an answer. */
function unhurried(ui: Ui): Ui {
  return {
    ...ui,
    select: (...question) => offTheClock(() => ui.select(...question)),
    confirm: (...question) => offTheClock(() => ui.confirm(...question)),
    input: (...question) => offTheClock(() => ui.input(...question)),
    editor: (...question) => offTheClock(() => ui.editor(...question)),
    custom: (...question) => offTheClock(() => ui.custom(...question)),
  };
}

function noCompaction(): AgentError {
  return new AgentError("no_service", "Nothing that is loaded can compact the conversation.", {
    hint: "Install a package that provides the service `compaction`, such as @pi-agent/compaction.",
  });
}
