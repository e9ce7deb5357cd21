import type { JsonSchema } from "./json-check.ts";

/**
 * What a project's settings.json may do to a key: `allow` sets it; `tighten` only narrows what the person has, in the
 * direction of `x-tighten`; `consent` sets it when the person agreed to it; `never` leaves it alone.
 */
export type Grade = "allow" | "tighten" | "consent" | "never";

/** How far a project may tighten: fewer of a list, a smaller number, or only the value `true`. */
export type Tighten = "fewer" | "lower" | "on";

/** A key of settings.json. A group of keys has `properties`, and no grade of its own. */
export interface SettingSchema extends JsonSchema {
  properties?: { readonly [key: string]: SettingSchema };
  "x-project"?: Grade;
  "x-tighten"?: Tighten;
  /** Of a number that a project may lower: the one that stands for no limit at all. */
  "x-no-limit"?: number;
  /** How a list lies over another: `append` adds to it; `tools` does so by `+name` and `-name`; else it replaces it. */
  "x-combine"?: "append" | "tools";
}

const LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];
const QUEUE = ["all", "one-at-a-time"];
const STRINGS: SettingSchema = { type: "array", items: { type: "string" } };
const TEXTS: SettingSchema = { ...STRINGS, default: [], "x-combine": "append" };
const SOURCES: SettingSchema = {
  type: "array",
  items: {
    anyOf: [{ type: "string" }, { type: "object", properties: { source: { type: "string" } }, required: ["source"] }],
  },
  default: [],
  "x-combine": "append",
};
const MILLISECONDS: SettingSchema = { anyOf: [{ type: "number", minimum: 0 }, { enum: ["disabled"] }] };
const YES: SettingSchema = { type: "boolean", default: true };
const NO: SettingSchema = { type: "boolean", default: false };

const MODELS: Record<string, SettingSchema> = {
  defaultProvider: { type: "string", "x-project": "consent" },
  defaultModel: { type: "string", "x-project": "consent" },
  defaultThinkingLevel: { enum: LEVELS, default: "medium", "x-project": "allow" },
  modelThinkingLevels: { type: "object", additionalProperties: { enum: LEVELS }, "x-project": "allow" },
  thinkingBudgets: {
    type: "object",
    additionalProperties: { type: "number", minimum: 0 },
    "x-project": "allow",
  },
  enabledModels: { ...STRINGS, "x-project": "tighten", "x-tighten": "fewer" },
  cacheWarming: { enum: ["off", "streaming", "idle"], default: "idle", "x-project": "never" },
  transport: {
    enum: ["auto", "sse", "websocket", "websocket-cached"],
    default: "auto",
    "x-project": "allow",
  },
  httpProxy: { type: "string", "x-project": "never" },
  httpIdleTimeoutMs: { ...MILLISECONDS, default: 300_000, "x-project": "allow" },
  websocketConnectTimeoutMs: { ...MILLISECONDS, default: 15_000, "x-project": "allow" },
  retry: {
    type: "object",
    properties: {
      enabled: { ...YES, "x-project": "allow" },
      maxRetries: { type: "integer", minimum: 0, default: 3, "x-project": "allow" },
      baseDelayMs: { type: "number", minimum: 0, default: 2_000, "x-project": "allow" },
      maxAgentDelayMs: { type: "number", minimum: 0, default: 60_000, "x-project": "allow" },
      provider: {
        type: "object",
        properties: {
          timeoutMs: { type: "number", minimum: 0, "x-project": "allow" },
          maxRetries: { type: "integer", minimum: 0, default: 0, "x-project": "allow" },
          maxRetryDelayMs: { type: "number", minimum: 0, default: 60_000, "x-project": "allow" },
        },
      },
    },
  },
};

const CONTEXT: Record<string, SettingSchema> = {
  contextFiles: { enum: ["always", "trusted", "never"], default: "always", "x-project": "never" },
  compaction: {
    type: "object",
    properties: {
      enabled: { ...YES, "x-project": "allow" },
      reserveTokens: { type: "integer", minimum: 0, default: 16_384, "x-project": "allow" },
      keepRecentTokens: { type: "integer", minimum: 0, default: 20_000, "x-project": "allow" },
      modelOverrides: {
        type: "object",
        additionalProperties: {
          type: "object",
          properties: {
            reserveTokens: { type: "integer", minimum: 0 },
            keepRecentTokens: { type: "integer", minimum: 0 },
          },
        },
        "x-project": "allow",
      },
    },
  },
  branchSummary: {
    type: "object",
    properties: {
      reserveTokens: { type: "integer", minimum: 0, default: 16_384, "x-project": "allow" },
      skipPrompt: { ...NO, "x-project": "allow" },
    },
  },
  steeringMode: { enum: QUEUE, default: "one-at-a-time", "x-project": "allow" },
  followUpMode: { enum: QUEUE, default: "one-at-a-time", "x-project": "allow" },
  sessionDir: { type: "string", "x-project": "never" },
  sessionShareDestination: { enum: ["auto", "gist", "radius"], default: "auto", "x-project": "never" },
  session: {
    type: "object",
    properties: {
      durability: { enum: ["flush", "fsync"], default: "flush", "x-project": "never" },
      store: { type: "string", "x-project": "never" },
    },
  },
};

const TOOLS: Record<string, SettingSchema> = {
  defaultTools: {
    ...STRINGS,
    default: ["read", "bash", "edit", "write"],
    "x-combine": "tools",
    "x-project": "tighten",
    "x-tighten": "fewer",
  },
  bash: {
    type: "object",
    properties: {
      timeoutSeconds: {
        type: "number",
        minimum: 0,
        "x-project": "tighten",
        "x-tighten": "lower",
        "x-no-limit": 0,
      },
    },
  },
  shellPath: { type: "string", "x-project": "consent" },
  shellCommandPrefix: { type: "string", "x-project": "consent" },
  externalEditor: { type: "string", "x-project": "consent" },
  codemode: {
    type: "object",
    properties: {
      mode: { enum: ["on", "only"], default: "on", "x-project": "consent" },
      inlineBudget: { type: "number", minimum: 0, default: 3_000, "x-project": "allow" },
    },
  },
  images: {
    type: "object",
    properties: {
      autoResize: { ...YES, "x-project": "allow" },
      blockImages: { ...NO, "x-project": "tighten", "x-tighten": "on" },
    },
  },
};

const PACKAGES: Record<string, SettingSchema> = {
  packages: { ...SOURCES, "x-project": "consent" },
  piAgent: { type: "object", properties: { packages: { ...SOURCES, "x-project": "consent" } } },
  extensions: { ...TEXTS, "x-project": "consent" },
  skills: { ...TEXTS, "x-project": "allow" },
  prompts: { ...TEXTS, "x-project": "allow" },
  themes: { ...TEXTS, "x-project": "allow" },
  enableSkillCommands: { ...YES, "x-project": "allow" },
  minimumReleaseAge: { type: "number", minimum: 0, "x-project": "never" },
  npmCommand: { ...STRINGS, "x-project": "never" },
  selfUpdateCommand: { ...STRINGS, "x-project": "never" },
  defaultProjectTrust: { enum: ["ask", "always", "never"], default: "ask", "x-project": "never" },
};

const DISPLAY: Record<string, SettingSchema> = {
  theme: { type: "string", default: "system", "x-project": "allow" },
  hideThinkingBlock: { ...NO, "x-project": "allow" },
  showCacheMissNotices: { ...NO, "x-project": "allow" },
  doubleEscapeAction: { enum: ["tree", "fork", "none"], default: "tree", "x-project": "allow" },
  treeFilterMode: {
    enum: ["default", "no-tools", "user-only", "labeled-only", "all"],
    default: "default",
    "x-project": "allow",
  },
  quietStartup: { enum: [true, false, "header"], default: false, "x-project": "allow" },
  tuiMode: { enum: ["fullscreen", "regular"], default: "fullscreen", "x-project": "allow" },
  fullscreenExitOutput: { enum: ["transcript", "resume-hint"], default: "transcript", "x-project": "allow" },
  fullscreenScrollbar: { enum: ["auto", "always", "hidden"], default: "auto", "x-project": "allow" },
  fullscreenCopyOnSelect: { ...YES, "x-project": "allow" },
  fullscreenWheelScrollLines: {
    anyOf: [{ enum: ["auto"] }, { type: "integer", minimum: 1, maximum: 100 }],
    default: "auto",
    "x-project": "allow",
  },
  editorPaddingX: { type: "integer", minimum: 0, maximum: 3, default: 0, "x-project": "allow" },
  outputPad: { enum: [0, 1], default: 1, "x-project": "allow" },
  autocompleteMaxVisible: { type: "integer", minimum: 3, maximum: 20, default: 5, "x-project": "allow" },
  showHardwareCursor: { type: "boolean", "x-project": "allow" },
  terminal: {
    type: "object",
    properties: {
      showImages: { ...YES, "x-project": "allow" },
      imageWidthCells: { type: "integer", minimum: 1, default: 60, "x-project": "allow" },
      clearOnShrink: { type: "boolean", "x-project": "allow" },
      showTerminalProgress: { ...NO, "x-project": "allow" },
      hyperlinks: { enum: [true, false, "auto"], default: "auto", "x-project": "allow" },
      trueColor: { enum: [true, false, "auto"], default: "auto", "x-project": "allow" },
      images: { enum: ["kitty", "iterm2", "auto", false], default: "auto", "x-project": "allow" },
    },
  },
  markdown: {
    type: "object",
    properties: {
      codeBlockIndent: { type: "string", default: "  ", "x-project": "allow" },
      mermaid: { enum: ["off", "final", "streaming"], default: "streaming", "x-project": "allow" },
    },
  },
  collapseChangelog: { ...NO, "x-project": "allow" },
};

// Kept for Pi, which shares the file; we neither report nor look anything up.
const PI_STATE: Record<string, SettingSchema> = {
  $schema: { type: "string", "x-project": "allow" },
  enableInstallTelemetry: { type: "boolean", "x-project": "never" },
  enableAnalytics: { type: "boolean", "x-project": "never" },
  warnings: {
    type: "object",
    properties: { anthropicExtraUsage: { ...YES, "x-project": "never" } },
  },
  lastChangelogVersion: { type: "string", "x-project": "never" },
  extensionChangelogVersions: { type: "object", "x-project": "never" },
  trackingId: { type: "string", "x-project": "never" },
  deviceId: { type: "string", "x-project": "never" },
};

/** Every key that we know, with its type, its default and its grade; published as the schema of settings.json. */
export const SETTINGS_SCHEMA: SettingSchema = {
  type: "object",
  properties: { ...MODELS, ...CONTEXT, ...TOOLS, ...PACKAGES, ...DISPLAY, ...PI_STATE },
};
