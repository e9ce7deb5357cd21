/**
 * How the person reaches npm registries: registry, scopes, tokens, proxy and certificates of their own `.npmrc`, of the
 * machine's and of the environment. A project's `.npmrc` is never read (P7).
 */
import { cacheOf, type PackageContext } from "./context.ts";
import { wordUnreadableConfig } from "./fetch-error.ts";
import { keepTokens, USER_AGENT } from "./keep-token.ts";

/** Options as the libraries of npm take them. */
export type NpmOptions = Record<string, unknown> & { cache: string; registry: string; signal?: AbortSignal };

// npm waits 10 s before its second try and 60 s before its third, and 5 min for an answer.
const RETRY = { retries: 2, factor: 2, minTimeout: 500, maxTimeout: 2_000, randomize: false };
const TIMEOUT_MS = 30_000;
// Nothing of what follows is a matter of how a registry is reached; some of it would run programs.
const LEFT_OUT = ["before", "global", "location", "path", "prefix", "workspaces", "save", "scriptShell", "nodeOptions"];

/** Reads the person's configuration. Fails with `package_config`. */
export async function loadNpmOptions(context: PackageContext): Promise<NpmOptions> {
  const [{ default: Config }, { default: npm }] = await Promise.all([
    import("@npmcli/config"),
    import("@npmcli/config/lib/definitions/index.js"),
  ]);
  // In global mode no project's file is looked for; the folder keeps the search for one from starting at ours.
  const argv = ["node", "npm", "--global"];
  const where = { cwd: context.agentDir, npmPath: context.agentDir, execPath: process.execPath };
  const env = { ...context.env, HOME: context.home };
  const agentBefore = process.env.npm_config_user_agent;
  try {
    const config = new Config({
      ...npm,
      ...where,
      argv,
      env,
      excludeNpmCwd: true,
      warn: false,
    });
    await config.load();
    keepTokens(config.flat);
    return toOptions(context, config.flat, (key) => config.find(key) !== "default");
  } catch (cause) {
    throw wordUnreadableConfig(cause);
  } finally {
    // Its flattening tells programs that would be started which npm this is; none is.
    if (agentBefore === undefined) delete process.env.npm_config_user_agent;
    else process.env.npm_config_user_agent = agentBefore;
  }
}

function toOptions(
  context: PackageContext,
  flat: Record<string, unknown>,
  isSet: (key: string) => boolean,
): NpmOptions {
  const kept = Object.fromEntries(Object.entries(flat).filter(([key]) => !LEFT_OUT.includes(key)));
  const retries = (flat.retry as { retries?: number } | undefined)?.retries ?? RETRY.retries;
  return {
    ...kept,
    registry: String(flat.registry),
    cache: cacheOf(context),
    retry: { ...RETRY, retries: isSet("fetch-retries") ? retries : RETRY.retries },
    fetchRetries: isSet("fetch-retries") ? retries : RETRY.retries,
    fetchRetryMintimeout: RETRY.minTimeout,
    fetchRetryMaxtimeout: RETRY.maxTimeout,
    fetchRetryFactor: RETRY.factor,
    timeout: isSet("fetch-timeout") ? flat.timeout : (context.requestTimeoutMs ?? TIMEOUT_MS),
    offline: context.isOffline === true || flat.offline === true,
    ignoreScripts: true,
    allowGit: "none",
    allowRemote: "none",
    allowFile: "none",
    allowDirectory: "none",
    audit: false,
    signal: context.signal,
    userAgent: USER_AGENT,
  };
}
