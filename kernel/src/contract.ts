/**
 * The contract between the kernel, its host and its extensions. Types only.
 *
 *   host ── createAgent(options) ──► Agent ◄── hooks and registries ── ExtensionAPI ── extension
 */
import type { Static, TSchema } from "typebox";
import type { AgentError } from "./errors.ts";
import type { Handler, HookEvent, HookName, HookPoints, Way } from "./hook-points.ts";
import type {
  AssistantMessage,
  CustomMessage,
  Draft,
  Entry,
  EntryType,
  Image,
  Json,
  JsonObject,
  Message,
  Model,
  StreamEvent,
  Text,
  ThinkingLevel,
  ToolSchema,
  Usage,
  UserContent,
} from "./messages.ts";

/** Takes back what the call that returned it did. Calling it twice is calling it once. */
export type Undo = () => void | Promise<void>;
export type Effect = "read" | "write" | "execute";
export type Outcome = "done" | "aborted" | "error" | "max_turns" | "stopped";
export type Activity = "idle" | "starting" | "running" | "retrying" | "compacting" | "summarizing";
export type FlagValue = string | boolean | string[];
export type MaybePromise<T> = T | Promise<T>;

// ---------------------------------------------------------------- providers

export interface ProviderRequest {
  model: Model;
  systemPrompt: string;
  /** Not to be changed: they are those of the transcript, and what was stored before is not frozen inside. */
  messages: readonly Message[];
  tools: readonly ToolSchema[];
  thinkingLevel: ThinkingLevel;
  maxTokens?: number;
  temperature?: number;
  timeoutMs?: number;
  auth: ProviderAuth;
  /** `turn` for the loop's own calls, else what `pi.complete` was asked for. */
  purpose: string;
  sessionId: string;
  cacheRetention: "none" | "short" | "long";
  signal: AbortSignal;
  fetch: typeof fetch;
  /** Call it with the wire payload before sending; send what it returns. */
  onPayload(payload: unknown): Promise<unknown>;
  /** Call it with the request headers before sending; send what it returns. */
  onHeaders(headers: Record<string, string | null>): Promise<Record<string, string | null>>;
  /** Call it once the response head is there. */
  onResponse(head: { status: number; headers: Headers }): Promise<void>;
  /** Call it with each event of the wire, as it was sent; absent while nobody listens. */
  onStreamEvent?(data: unknown): Promise<void>;
}

export interface ProviderAuth {
  apiKey?: string;
  headers?: Record<string, string | null>;
  baseUrl?: string;
}

/** A wire format. Translates and nothing else: retry, budgets and caches are other packages' work. */
export interface Api {
  /**
   * Streams one answer. Never throws once it has yielded: a failure is the final `error` event, whose message carries
   * `failure` and `errorMessage`; an abort is `error` with reason `aborted` and what had arrived.
   */
  stream(request: ProviderRequest): AsyncIterable<readonly StreamEvent[]>;
}

/** A service that speaks a registered api. `env` names the variables that may hold its key, best first. */
export interface ProviderDefinition {
  id: string;
  name?: string;
  api: string;
  models: Model[];
  env: string[];
  baseUrl?: string;
}

// ---------------------------------------------------------------- tools

export interface Tool<S extends TSchema = TSchema> {
  name: string;
  label?: string;
  description: string;
  parameters: S;
  /** One line for the prompt's list of tools; without it the tool is not listed there. */
  promptSnippet?: string;
  promptGuidelines?: string[];
  /** `false`: registered, but on only when asked for. */
  defaultActive?: boolean;
  executionMode?: "parallel" | "sequential";
  /** What it may do to the machine; missing means `execute`. */
  effect?: Effect | ((args: Static<S>) => Effect);
  /** The paths that a call would read and write, resolved or relative to the working directory. */
  touches?(args: Static<S>, ctx: Context): { read?: string[]; write?: string[] };
  /** Mends what models are known to get wrong, before validation. */
  prepareArguments?(args: unknown): unknown;
  /** A throw becomes an error result. Obey `signal`: after an abort and the grace period the result is dropped. */
  execute(
    id: string,
    args: Static<S>,
    signal: AbortSignal,
    onUpdate: (partial: ToolResult) => void,
    ctx: Context,
  ): Promise<ToolResult>;
}

export interface ToolResult {
  content: (Text | Image)[];
  /** For renderers and extensions; the model never sees it. */
  details?: Json;
  isError?: boolean;
  /** On every result of a batch: ends the run after it. */
  terminate?: boolean;
  usage?: Usage;
}

/** Holds every call's effect at or below `ceiling`, whatever hooks say. */
export interface Limit {
  ceiling: Effect;
  reason: string;
  /** May lower one call's effect for this limit only. */
  classify?(call: { toolName: string; args: JsonObject; effect: Effect }): Effect | undefined;
}

// ---------------------------------------------------------------- what can be registered

export interface Command {
  description?: string;
  getArgumentCompletions?(
    prefix: string,
  ): MaybePromise<{ value: string; label?: string; description?: string }[] | null>;
  handler?(args: string, ctx: CommandContext): MaybePromise<void>;
  /** For text commands: what the command's text becomes, after the `input` hooks. */
  expand?(args: string): MaybePromise<string>;
}

export interface Flag {
  type: "boolean" | "string";
  description?: string;
  short?: string;
  multiple?: boolean;
  choices?: string[];
  default?: FlagValue;
}

export interface Shortcut {
  description?: string;
  handler(ctx: Context): MaybePromise<void>;
}

export interface CliIo {
  cwd: string;
  stdin: NodeJS.ReadableStream;
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  signal: AbortSignal;
  agent: Agent;
  host: Host;
}
/** A sub-command. Answers an exit code, or `start` to go on into a mode with these entries, as the session of that id. */
export interface CliCommand {
  summary: string;
  run(
    args: string[],
    io: CliIo,
  ): Promise<number | { start: { entries: Entry[]; cwd: string; prompt?: string; sessionId?: string } }>;
}

export const SECTION_SLOTS = [
  "preamble",
  "tools",
  "rules",
  "docs",
  "addendum",
  "project_context",
  "skills",
  "custom",
  "cwd",
] as const;
export type SectionSlot = (typeof SECTION_SLOTS)[number];

/** A part of the system prompt. An empty text leaves it out. */
export interface Section {
  slot: SectionSlot;
  text: string | ((ctx: Context) => MaybePromise<string>);
}

export interface Mode {
  name: string;
  hasUI: boolean;
  ui(): Ui;
  /** Asks about a project; the plan's type is the loader's. */
  askTrust?(plan: unknown, signal: AbortSignal): Promise<unknown>;
  run(host: Host, agent: Agent, args: string[]): Promise<number>;
  /** Shows events of the past; they come when they are due. */
  replay?(events: AsyncIterable<AgentEvent>): Promise<void>;
}

/** Structural, as Pi's toolkit has it: every line fits `width` columns. */
export interface Component {
  render(width: number): string[];
  handleInput?(data: string): void;
  invalidate?(): void;
}
export type Renderer = (value: never, options: never, theme: never) => Component | undefined;

/** Turns an entry type of one's own into messages for the model. */
export type Projector = (entry: Entry) => Message[];

export interface ResourceKind {
  /** Folders or files looked for, below `.pi` and the agent directory. */
  places: string[];
  grade: "text" | "settings" | "executable";
}

/** Every kind of thing that `register` takes. Packages add kinds by declaration merging. */
export interface Registry {
  tool: Tool;
  command: Command;
  flag: Flag;
  shortcut: Shortcut;
  cli: CliCommand;
  api: Api;
  provider: ProviderDefinition;
  model: Model;
  section: Section;
  service: unknown;
  mode: Mode;
  "message-renderer": Renderer;
  "entry-renderer": Renderer;
  "tool-renderer": Renderer;
  theme: JsonObject;
  projector: Projector;
  "resource-kind": ResourceKind;
  settings: TSchema;
  module: unknown;
  /** The name of a variable that holds a secret: scrubbed from child environments, masked in logs. */
  secret: true;
}
export type Kind = keyof Registry;

/** Who registered something. Ranks decide names: `flag` > `user` > `package` > `official`; a project never takes one. */
export interface Owner {
  /** Unique in an agent: a package name, or the path of a file. */
  name: string;
  scope: "official" | "package" | "user" | "flag" | "project" | "inline" | "host" | "inherited";
  path?: string;
  /** The package that it is a part of, where its own name is a path. */
  package?: string;
}

export interface Registered<K extends Kind = Kind> {
  name: string;
  value: Registry[K];
  owner: Owner;
}

// ---------------------------------------------------------------- services

export interface Resource {
  id: string;
  kind: string;
  path: string;
  source: string;
  scope: "user" | "project" | "package" | "flag";
  digest?: string;
  state: "loaded" | "held";
  frontmatter?: JsonObject;
  text(): string;
}

/** The well-known services. A package that provides another one declares it here by merging. */
export interface Services {
  resources: { list(kind: string): readonly Resource[] };
  files: {
    /** Runs `fn` when no other change of the same real path is under way. */
    mutate<T>(path: string, fn: () => Promise<T>): Promise<T>;
  };
  credentials: {
    /** Variables that hold secrets: scrub them from child environments, mask them in logs. */
    names(): string[];
    /** Fails with `no_key`. A model that redirects its provider elsewhere does not get that provider's key. */
    resolve(provider: string, model?: Model): Promise<ProviderAuth>;
  };
  settings: {
    get(key: string): Json | undefined;
    set(key: string, value: Json): Promise<void>;
    onChange(listener: (key: string) => void): Undo;
  };
  models: {
    list(): readonly Model[];
    /** Finds by `provider/id`, id or part of a name, with an optional `:thinking` suffix. Fails with `unknown_model`. */
    resolve(reference: string, provider?: string): { model: Model; thinkingLevel?: ThinkingLevel };
    hasCredentials(provider: string): boolean;
    /** The model to begin with when nobody names one. */
    initial(provider?: string): { model: Model; thinkingLevel?: ThinkingLevel } | undefined;
  };
  compaction: {
    compact(options?: CompactOptions): Promise<Entry>;
    /** Fails with `summary_failed`; an abort rejects with `aborted`. */
    summarize(
      entries: readonly Entry[],
      options?: CompactOptions,
    ): Promise<{ summary: string; usage?: Usage; details?: Json }>;
  };
}
export type ServiceName = keyof Services;
export interface CompactOptions {
  customInstructions?: string;
  signal?: AbortSignal;
}

export interface ExecOptions {
  signal?: AbortSignal;
  timeout?: number;
  cwd?: string;
  maxBuffer?: number;
}
export interface ExecResult {
  stdout: string;
  stderr: string;
  code: number;
  killed: boolean;
  truncated: boolean;
}

// ---------------------------------------------------------------- user interface

export interface DialogOptions {
  signal?: AbortSignal;
  /** Milliseconds. */
  timeout?: number;
}

/** Without a user interface questions answer their safe default at once, and `notify` goes to standard error. */
export interface Ui {
  select(title: string, options: string[], dialog?: DialogOptions): Promise<string | undefined>;
  confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean>;
  input(title: string, placeholder?: string, dialog?: DialogOptions): Promise<string | undefined>;
  editor(title: string, prefill?: string, dialog?: DialogOptions): Promise<string | undefined>;
  notify(message: string, level?: "info" | "warning" | "error"): void;
  setStatus(key: string, text: string | undefined): void;
  setWidget(key: string, content: string[] | undefined): void;
  setTitle(title: string): void;
  /** Puts a text where the person types next. */
  setEditorText(text: string): void;
  custom<T>(factory: (done: (value: T) => void) => Component, options?: JsonObject): Promise<T | undefined>;
}

// ---------------------------------------------------------------- extensions

/** An extension: a module's default export. The schema of its options, where it takes any, sits on the function. */
export interface Extension {
  (pi: ExtensionAPI, options: never): MaybePromise<void>;
  options?: TSchema;
}

/** An extension with what the loader knows about it. */
export interface ExtensionEntry {
  extension: Extension;
  options?: unknown;
  owner: Owner;
  /** Services that must be there first, each with the package that provides it. */
  requires?: Readonly<Record<string, string>>;
}

export interface CompletionRequest {
  messages: readonly Message[];
  systemPrompt?: string;
  model?: Model;
  thinkingLevel?: ThinkingLevel;
  maxTokens?: number;
  temperature?: number;
  tools?: readonly ToolSchema[];
  /** What it is for: `compaction`, `title` … */
  purpose: string;
  /** Default `none`: it is rarely asked twice. */
  cacheRetention?: ProviderRequest["cacheRetention"];
  /** `false` where the caller records what it cost; else that goes into a `usage` entry. */
  recordsUsage?: boolean;
  signal?: AbortSignal;
}

export type CustomDraft = Pick<CustomMessage, "customType" | "content" | "display" | "details">;

export interface ExtensionAPI {
  readonly owner: Owner;
  /** What this extension's handlers get: for services that are called when no handler is. */
  readonly context: Context;
  on<N extends HookName>(event: N, handler: Handler<N>): Undo;
  declareHook(name: string, options: { way: Way; wire?: boolean; onFault?: "refuse" | "continue" }): Undo;
  /** Fires a hook that this extension declared, and answers what its handlers made of it. */
  dispatch<N extends HookName>(name: N, event: HookPoints[N]["event"]): Promise<HookPoints[N]["result"] | undefined>;

  register<K extends Kind>(kind: K, name: string, value: Registry[K]): Undo;
  /** What is registered of a kind, by all that is loaded, as it is at any moment. Calling what is in it passes no gate. */
  registry<K extends Kind>(kind: K): ReadonlyMap<string, Registered<K>>;
  registerTool<S extends TSchema>(tool: Tool<S>): Undo;
  registerCommand(name: string, command: Command): Undo;
  registerShortcut(key: string, shortcut: Shortcut): Undo;
  registerFlag(name: string, flag: Flag): Undo;
  registerProvider(definition: ProviderDefinition): Undo;
  registerMessageRenderer(customType: string, renderer: Renderer): Undo;
  registerEntryRenderer(customType: string, renderer: Renderer): Undo;

  service<N extends ServiceName>(name: N): Services[N] | undefined;
  limitEffects(limit: Limit): Undo;
  /** Makes one provider call outside the loop. */
  complete(request: CompletionRequest): Promise<AssistantMessage>;
  exec(command: string, args: string[], options?: ExecOptions): Promise<ExecResult>;
  error(code: string, message: string, more?: { hint?: string; cause?: unknown }): AgentError;
  onDispose(undo: Undo): void;
  readonly events: {
    on(channel: string, listener: (data: unknown) => void): Undo;
    emit(channel: string, data: unknown): void;
  };

  sendMessage(
    message: CustomDraft,
    options?: { triggerTurn?: boolean; deliverAs?: "steer" | "followUp" | "nextTurn" },
  ): void;
  sendUserMessage(content: UserContent, options?: { deliverAs?: "steer" | "followUp" }): void;
  /** Appends entries, all or none. Between a call and its result only what is no message has a place. */
  append(drafts: readonly Draft[]): readonly Entry[];
  appendEntry(customType: string, data?: Json): string;
  setLabel(entryId: string, label: string | undefined): void;
  setSessionName(name: string): void;
  /** Answers `false` when the model's provider has no credentials. */
  setModel(model: Model): Promise<boolean>;
  setThinkingLevel(level: ThinkingLevel): void;
  setActiveTools(names: string[]): void;

  getFlag(name: string): FlagValue | undefined;
  getSessionName(): string | undefined;
  getThinkingLevel(): ThinkingLevel;
  getActiveTools(): string[];
  getAllTools(): (Pick<Tool, "name" | "description" | "parameters" | "promptSnippet" | "promptGuidelines"> & {
    owner: Owner;
  })[];
  getCommands(): { name: string; description?: string; owner: Owner }[];
}

// ---------------------------------------------------------------- contexts

export interface ContextUsage {
  /** `null` right after a compaction or an edit, until the next answer. */
  tokens: number | null;
  contextWindow: number;
  percent: number | null;
}

export interface Context {
  readonly cwd: string;
  readonly mode: string;
  readonly hasUI: boolean;
  readonly ui: Ui;
  /** The run's, else that of exclusive work that is under way: it fires when the person wants it to end. */
  readonly signal: AbortSignal | undefined;
  readonly model: Model | undefined;
  readonly thinkingLevel: ThinkingLevel;
  readonly transcript: Transcript;
  readonly sessionId: string;
  isIdle(): boolean;
  /** Whether steering or a follow-up waits. */
  hasPendingMessages(): boolean;
  abort(): void;
  shutdown(): void;
  getContextUsage(): ContextUsage | undefined;
  estimateTokens(messages: readonly Message[]): number;
  compact(options?: CompactOptions): Promise<Entry>;
  getSystemPrompt(): string;
  isProjectTrusted(): boolean;
  /**
   * Runs `fn` when nothing else is exclusive; prompts queue as steering meanwhile. `signal` fires when the agent is
   * aborted, or the extension is unloaded.
   */
  exclusive<T>(activity: "compacting" | "summarizing", fn: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Makes a child with this agent's limits, signal and providers. */
  createAgent(options: AgentOptions): Agent;
}

export interface CommandContext extends Context {
  waitForIdle(): Promise<void>;
  newSession(options?: { parentSession?: string }): Promise<{ cancelled: boolean }>;
  fork(entryId: string, options?: { position?: "before" | "at" }): Promise<{ cancelled: boolean }>;
  navigateTree(entryId: string, options?: NavigateOptions): Promise<{ cancelled: boolean }>;
  switchSession(path: string): Promise<{ cancelled: boolean }>;
  reload(): Promise<void>;
}

export interface NavigateOptions {
  summarize?: boolean;
  customInstructions?: string;
  label?: string;
}

// ---------------------------------------------------------------- agent

export interface Transcript {
  readonly leafId: string | null;
  readonly size: number;
  get(id: string): Entry | undefined;
  /** From the root to `leaf`, or to the current leaf. */
  path(leaf?: string): readonly Entry[];
  children(id: string | null): readonly Entry[];
  /** The newest entry of a type on the way to the current leaf, looked for from there. */
  findLast<T extends EntryType>(type: T, matches?: (entry: Entry<T>) => boolean): Entry<T> | undefined;
  /** What the model needs next: valid for any provider, whatever happened. A list of the caller's own. */
  project(leaf?: string): readonly Message[];
  /** The id of the entry that a projected message came from. */
  source(message: Message): string | undefined;
}

export interface AgentState {
  readonly activity: Activity;
  readonly runId?: string;
  readonly turnIndex?: number;
  readonly model?: Model;
  readonly thinkingLevel: ThinkingLevel;
  readonly limits: readonly Limit[];
  readonly systemPrompt: string;
  readonly activeTools: readonly string[];
}

export interface PromptSection {
  name: string;
  slot: SectionSlot;
  owner: Owner;
  text: string;
  estimatedTokens: number;
}

/** What an extension costs (E6). It goes on counting while the extension is loaded. */
export interface ExtensionReport {
  owner: Owner;
  /** `kept`: a new version failed, and the one before goes on. */
  state: "loaded" | "failed" | "kept" | "unloaded";
  loadMs: number;
  /** Time in its hook handlers; estimated from samples once it has been called often. */
  hookMs: number;
  /** What its prompt sections and tools add to the prompt, estimated. */
  promptTokens: number;
  /** How often it failed: in its factory, in a handler, in what it left floating. */
  errors: number;
  /** The hooks that it was slow in. */
  slow: readonly string[];
  /** Why it failed to load. */
  error?: AgentError;
  /** What the version that it took the place of could not take back. */
  leaks?: LeakReport["leaks"];
}

/** What unloading left behind. Empty means clean. */
export interface LeakReport {
  leaks: { owner: string; what: string }[];
}

export interface Queue {
  steering: Message[];
  followUp: Message[];
}

export interface Agent {
  /**
   * Takes what a person typed: runs a command, or starts a run, or queues it while one is going on.
   * Fails with `no_model`, `no_key`, `disposed`.
   */
  input(
    text: string,
    options?: {
      images?: Image[];
      source?: "interactive" | "rpc" | "extension";
      whileRunning?: "steer" | "followUp";
    },
  ): Promise<"started" | "queued" | "handled">;
  /** Runs one prompt on a fresh transcript, to its end. */
  run(text: string): Promise<{ answer: string; outcome: Outcome; usage: Usage; messages: Message[] }>;
  steer(message: string | Message): void;
  followUp(message: string | Message): void;
  /** Goes on from a transcript whose last message is not the assistant's; else fails with `cannot_continue`. */
  continue(): Promise<Outcome>;
  /** Ends the run and answers what was queued. A second call does not throw. */
  abort(reason?: string): Promise<Queue>;
  /** Resolves when no run is going on. */
  settled(): Promise<void>;
  readonly queue: Queue;
  clearQueue(): Queue;
  on<N extends HookName>(event: N, listener: Handler<N>): Undo;
  /** Listens to every hook that is forwarded over the wire, in the order of K2. */
  onWire(listener: (event: AgentEvent) => MaybePromise<void>): Undo;
  dispatch<N extends HookName>(name: N, event: HookPoints[N]["event"]): Promise<HookPoints[N]["result"] | undefined>;
  readonly state: AgentState;
  readonly sessionId: string;
  readonly transcript: Transcript;
  registry<K extends Kind>(kind: K): ReadonlyMap<string, Registered<K>>;
  service<N extends ServiceName>(name: N): Services[N] | undefined;
  /**
   * Loads more extensions; what each factory registers takes effect together, or not at all. With `replace`, one whose
   * owner's name is loaded already takes its place in the order: the old one goes on until the new one is there, and
   * stays when it fails.
   */
  extend(extensions: readonly ExtensionEntry[], options?: { replace?: boolean }): Promise<ExtensionReport[]>;
  /** Unloads what an owner registered, in reverse. */
  unload(ownerName: string): Promise<LeakReport>;
  /** Declares a hook of the host. */
  declareHook(name: string, options: { way: Way; wire?: boolean; onFault?: "refuse" | "continue" }): Undo;
  /** Goes on from a stored session. Only while idle. */
  open(session: { id: string; entries: readonly Entry[] }): void;
  /** Runs `fn` when nothing else is exclusive; prompts wait meanwhile. A run that is going on goes on. */
  exclusive<T>(activity: Activity, fn: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Stands at another entry of the session. Only while idle. */
  moveTo(entryId: string | null): void;
  append(drafts: readonly Draft[]): readonly Entry[];
  setModel(model: Model, source?: "set" | "cycle"): Promise<boolean>;
  setThinkingLevel(level: ThinkingLevel): void;
  setActiveTools(names: string[]): void;
  /** The system prompt as the next run would render it, part by part. */
  promptSections(): Promise<PromptSection[]>;
  readonly extensions: readonly ExtensionReport[];
  ready(): Promise<void>;
  dispose(): Promise<LeakReport>;
}

/** An event as it travels over the wire. */
export type AgentEvent = { [N in HookName]: HookEvent<N> & { type: N } }[HookName];

export interface AgentOptions {
  extensions?: (Extension | [Extension, unknown] | ExtensionEntry)[];
  /** `provider/id`, or the model itself. Left out: the first model whose provider has a key. */
  model?: string | Model;
  thinkingLevel?: ThinkingLevel;
  /** Fills the slot `preamble`. */
  systemPrompt?: string;
  /** Names of the tools that are on; left out: all but those with `defaultActive: false`. */
  activeTools?: string[];
  maxTurns?: number;
  steeringMode?: "one-at-a-time" | "all";
  followUpMode?: "one-at-a-time" | "all";
  entries?: readonly Entry[];
  sessionId?: string;
  /** How long an abort waits before it abandons what does not listen. Default 5,000. */
  graceMs?: number;
  signal?: AbortSignal;
  host?: Partial<Host>;
}

/** What an agent lives in. Every member has a headless default; the loader provides the full one. */
export interface Host {
  cwd: string;
  mode: string;
  hasUI: boolean;
  ui: Ui;
  flags: ReadonlyMap<string, FlagValue>;
  settings: Services["settings"];
  resources: Services["resources"];
  credentials: Services["credentials"];
  models: Services["models"] | undefined;
  /** The loader's own services, typed there. */
  trust: unknown;
  packages: unknown;
  isProjectTrusted(): boolean;
  /** Makes a path absolute and follows its links, as far as it exists. Without a file system it stays as it is. */
  realPath(path: string): string;
  fetch: typeof fetch;
  exec(command: string, args: string[], options?: ExecOptions): Promise<ExecResult>;
  newSession(options?: { parentSession?: string }): Promise<{ cancelled: boolean }>;
  switchSession(path: string): Promise<{ cancelled: boolean }>;
  fork(entryId: string, options?: { position?: "before" | "at" }): Promise<{ cancelled: boolean }>;
  navigateTree(entryId: string, options?: NavigateOptions): Promise<{ cancelled: boolean }>;
  reload(): Promise<void>;
  shutdown(): void;
  /** Sees each agent made under this host's, before anything runs in it: what the host holds agents to counts there too. */
  adopt?(child: Agent): void;
}
