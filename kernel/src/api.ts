/** `pi`: what an extension's factory gets. Registering is staged in its scope; acting needs the agent. */
import type { Agent, CompletionRequest, ExtensionAPI, Kind, Limit, Registry, Undo } from "./contract.ts";
import { type Core, HOST_OWNER } from "./core.ts";
import { AgentError } from "./errors.ts";
import { offTheClock, runAs } from "./frames.ts";
import type { HookName } from "./hook-points.ts";
import type { AssistantMessage } from "./messages.ts";
import { requireModel } from "./model-choice.ts";
import { streamAnswer } from "./provider-call.ts";
import { checkFunction, checkHandler, checkHook, checkRegistration } from "./registrations.ts";
import type { Scope } from "./scope.ts";
import { uuidv7 } from "./values.ts";

/** The part of the agent that extensions act through. */
export type Acting = Pick<Agent, "input" | "steer" | "followUp" | "setModel" | "setThinkingLevel">;

export function createApi(core: Core, scope: Scope, agent: Acting): ExtensionAPI {
  const { owner } = scope;
  const context = core.contextOf(owner, () => scope.assertLive());
  const register = <K extends Kind>(kind: K, name: string, given: Registry[K]): Undo => {
    scope.assertOpen();
    const value = checkRegistration({ owner, kind, name, value: given });
    return scope.add(() => {
      const { undo, collision } = core.registries.add(kind, name, { value, owner, order: scope.order });
      if (collision) reportCollision(core, collision);
      return undo;
    });
  };
  /** Guards a member: an unloaded extension's handles say so instead of acting. */
  const live = <A extends unknown[], R>(fn: (...args: A) => R) => {
    return (...args: A): R => {
      scope.assertLive();
      return fn(...args);
    };
  };
  const declared = new Set<string>();

  return {
    owner,
    context,
    on: (name, handler) => {
      checkHandler(owner, name, handler);
      const { order, account } = scope;
      const record = { owner, order, account, scope, handler: handler as never, context };
      return scope.add(() => core.hooks.on(name, record));
    },
    declareHook(name, options) {
      checkHook(owner, name, options);
      return scope.add(() => {
        const undo = core.hooks.declare(name, options);
        declared.add(name);
        return () => {
          declared.delete(name);
          return undo();
        };
      });
    },
    dispatch: live(async (name, event) => {
      if (!declared.has(name)) throw notYours(owner.name, name);
      return core.hooks.dispatch(core.hooks.point(name), event) as never;
    }),
    register,
    registry: live((kind) => core.registries.view(kind)),
    registerTool: (tool) => register("tool", tool?.name, tool as never),
    registerCommand: (name, command) => register("command", name, command),
    registerShortcut: (key, shortcut) => register("shortcut", key, shortcut),
    registerFlag: (name, flag) => register("flag", name, flag),
    registerProvider: (definition) => register("provider", definition?.id, definition),
    registerMessageRenderer: (customType, renderer) => register("message-renderer", customType, renderer),
    registerEntryRenderer: (customType, renderer) => register("entry-renderer", customType, renderer),
    service: live((name) => core.service(name)),
    // Not held to its shape: one with a misspelt ceiling forbids all, where a refused one would forbid nothing (F044).
    limitEffects: (given) =>
      scope.add(() => {
        const classify: Limit["classify"] = (call) => runAs(owner, () => given.classify?.(call));
        const limit: Limit = { ceiling: given.ceiling, reason: given.reason, classify };
        core.ownLimits = [...core.ownLimits, limit];
        return () => {
          core.ownLimits = core.ownLimits.filter((each) => each !== limit);
        };
      }),
    complete: live((request) => offTheClock(() => complete(core, request, scope.signal))),
    exec: live((command, args, options) => offTheClock(() => core.host.exec(command, args, options))),
    error: (code, message, more) => new AgentError(code, message, { ...more, owner: owner.name }),
    onDispose: (undo) => {
      checkFunction(owner, "clean-up", undo);
      scope.onDispose(undo);
    },
    events: {
      on: (channel, listener) => scope.add(() => core.bus.on(channel, listener, owner)),
      emit: live((channel, data) => core.bus.emit(channel, data)),
    },
    sendMessage: live((message, options = {}) => {
      const custom = { ...message, role: "custom" as const, timestamp: Date.now() };
      if (options.deliverAs === "nextTurn") core.queue.add("nextTurn", core.toMessage(custom));
      else if (core.run || options.triggerTurn) agent[options.deliverAs === "followUp" ? "followUp" : "steer"](custom);
      else core.append([{ ...message, type: "custom_message" }]);
    }),
    sendUserMessage: live((content, options = {}) => {
      const message = { role: "user" as const, content, timestamp: Date.now() };
      agent[options.deliverAs === "followUp" ? "followUp" : "steer"](message);
    }),
    append: live((drafts) => core.append(drafts)),
    appendEntry: live((customType, data) => core.append([{ type: "custom", customType, data }])[0]!.id),
    setLabel: live((targetId, label) => void core.append([{ type: "label", targetId, label }])),
    setSessionName: live(
      (name) => void core.append([{ type: "session_info", name: name.replace(/\s+/g, " ").trim() }]),
    ),
    setModel: live((model) => agent.setModel(model)),
    setThinkingLevel: live((level) => agent.setThinkingLevel(level)),
    setActiveTools: live((names) => core.setActiveTools(names)),
    getFlag: live((name) => core.host.flags.get(name) ?? core.registries.of("flag").get(name)?.value.default),
    getSessionName: live(() => core.transcript.name),
    getThinkingLevel: live(() => core.thinkingLevel),
    getActiveTools: live(() => [...core.loadout().tools.keys()]),
    getAllTools: live(() =>
      Array.from(core.registries.of("tool").values(), ({ value, owner: from }) => {
        const { name, description, parameters, promptSnippet, promptGuidelines } = value;
        return { name, description, parameters, promptSnippet, promptGuidelines, owner: from };
      }),
    ),
    getCommands: live(() =>
      Array.from(core.registries.of("command"), ([name, { value, owner: from }]) => ({
        name,
        description: value.description,
        owner: from,
      })),
    ),
  };
}

/** One provider call outside the loop. Its cost becomes a `usage` entry. */
async function complete(core: Core, request: CompletionRequest, gone: AbortSignal): Promise<AssistantMessage> {
  const { run, exclusives } = core;
  const model = request.model ?? (await requireModel(core));
  const signals = [gone, request.signal, run?.signal ?? exclusives.signal];
  const ask = {
    ...request,
    model,
    tools: request.tools ?? [],
    systemPrompt: request.systemPrompt ?? "",
    thinkingLevel: request.thinkingLevel ?? core.thinkingLevel,
    signal: AbortSignal.any(signals.filter((signal) => signal !== undefined)),
    // It shares no beginning with the conversation, so it is not sent where that one's cache lies.
    sessionId: uuidv7(),
    cacheRetention: request.cacheRetention ?? ("none" as const),
    runId: run?.id ?? "",
    turnIndex: run?.turnIndex ?? -1,
  };
  const message = await streamAnswer(core, ask, run, { onStart: () => {} });
  if (request.recordsUsage === false) return message;
  core.append([
    { type: "usage", kind: request.purpose, provider: model.provider, model: model.id, usage: message.usage },
  ]);
  return message;
}

function reportCollision(
  core: Core,
  collision: { kind: Kind; name: string; winner: Scope["owner"]; loser: Scope["owner"] },
): void {
  const { kind, name, winner, loser } = collision;
  // The host that takes a name means it.
  if (winner.name === HOST_OWNER.name) return;
  const holder = winner.path ?? winner.name;
  const message = `The ${kind} ${name} of ${loser.path ?? loser.name} is not used: ${holder} has that name.`;
  core.report({
    owner: loser,
    event: `register:${kind}`,
    error: new AgentError("name_taken", message, { owner: loser.name }),
  });
}

function notYours(owner: string, name: HookName): AgentError {
  return new AgentError("not_declared", `${owner} fired the hook ${name}, which it did not declare.`, {
    hint: "Fire only hooks that this extension declared with pi.declareHook.",
    owner,
  });
}
