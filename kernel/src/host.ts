/** What an agent lives in when nobody says: no files, no settings, questions answer their safe default. */
import type { Host, ProviderAuth, ProviderDefinition, Registered, Ui } from "./contract.ts";
import { AgentError } from "./errors.ts";

/** Fills in what a host lacks. It stays live: what its owner sets later is seen here. */
export function completeHost(
  given: Partial<Host>,
  {
    providers,
    moveTo,
  }: { providers: () => ReadonlyMap<string, Registered<"provider">>; moveTo: (id: string) => Promise<void> },
): Host {
  const defaults: Host = {
    cwd: globalThis.process?.cwd() ?? "/",
    mode: "sdk",
    hasUI: false,
    ui: headlessUi,
    flags: new Map(),
    settings: { get: () => undefined, set: () => refused("settings", "change a setting"), onChange: () => () => {} },
    resources: { list: () => [] },
    credentials: {
      names: () => [...providers().values()].flatMap(({ value }) => value.env),
      resolve: async (id) => environmentAuth(providers().get(id)?.value),
    },
    models: undefined,
    trust: undefined,
    packages: undefined,
    isProjectTrusted: () => false,
    realPath: (path) => path,
    fetch: (...request) => fetch(...request),
    exec: () => refused("exec", "run a program"),
    newSession: () => refused("newSession", "start a session"),
    switchSession: () => refused("switchSession", "switch sessions"),
    fork: () => refused("fork", "fork a session"),
    navigateTree: async (entryId) => {
      await moveTo(entryId);
      return { cancelled: false };
    },
    reload: () => refused("reload", "reload"),
    shutdown: () => {},
  };
  const missing = Object.entries(defaults).filter(([member]) => given[member as keyof Host] === undefined);
  return Object.assign(Object.create(given) as Host, Object.fromEntries(missing));
}

export const headlessUi: Ui = {
  select: async () => undefined,
  confirm: async () => false,
  input: async () => undefined,
  editor: async () => undefined,
  notify: (message) => globalThis.console.error(message),
  setStatus: () => {},
  setWidget: () => {},
  setTitle: () => {},
  setEditorText: () => {},
  custom: async () => undefined,
};

/** The first of a provider's own variables that is set. */
function environmentAuth(definition: ProviderDefinition | undefined): ProviderAuth {
  const env = globalThis.process?.env ?? {};
  const name = definition?.env.find((each) => env[each]);
  if (name) return { apiKey: env[name] };
  if (!definition || definition.env.length === 0) return {};
  throw new AgentError(
    "no_key",
    `There is no key for ${definition.name ?? definition.id}: looked for ${definition.env.join(", ")}.`,
    {
      hint: `Set ${definition.env[0]}, or give the agent a host with credentials.`,
    },
  );
}

function refused(member: string, action: string): Promise<never> {
  const hint = `Give createAgent a host with \`${member}\`, or load the agent with @pi-agent/loader.`;
  return Promise.reject(new AgentError("no_host", `This agent's host cannot ${action}.`, { hint }));
}
