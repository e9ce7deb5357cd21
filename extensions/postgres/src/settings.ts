import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { ExtensionAPI, ServiceName } from "@pi-agent/kernel";
import { parseAddress } from "./address.ts";
import { DatabaseError } from "./database.ts";
import type { Target, WorkerSettings } from "./messages.ts";
import { ANY_TARGET } from "./spool-folder.ts";

/** The settings of `postgres` in settings.json. A project may set none of them. */
export const SETTINGS_SCHEMA = {
  type: "object",
  properties: {
    enabled: { type: "boolean", default: true, "x-project": "never" },
    url: { type: "string", "x-project": "never" },
    schema: { type: "string", minLength: 1, maxLength: 63, default: "pi_agent", "x-project": "never" },
    exitWaitMs: { type: "number", minimum: 0, "x-project": "never" },
  },
};

/** The variable that names a server where the settings do not. */
const URL_VARIABLE = "DATABASE_URL";
/** The word for the database in the agent directory, in place of an address. */
const EMBEDDED = "embedded";
/** What the session store is registered as. */
export const STORE_NAME = "postgres";
// Sessions that are at home on a server are gone on with on other machines, which do not see what waits on this one.
const HOME_WAIT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 10_000;
const REFERENCE = /\$(?:([$!])|\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;

export interface PostgresSettings {
  isEnabled: boolean;
  agentDir: string;
  schema: string;
  /** How long an exit waits for what is not in the database yet. */
  exitWaitMs: number;
  /** Whether what was flushed outlasts the machine too: the setting `session.durability`. */
  isDurable: boolean;
  /** What gives the address of a server; nothing for the embedded database. */
  address: AddressSource | undefined;
  /** Names the place that is written to; `any` while that cannot be told. */
  targetId: string;
}

/** An address itself, or as settings write it: with `$NAME` from the environment, or a command after a `!`. */
type AddressSource = { url: string } | { template: string };
interface Environment {
  agentDir: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** Reads the settings and the environment; runs nothing, opens nothing. */
export function readSettings(pi: Pick<ExtensionAPI, "service">): PostgresSettings {
  const { agentDir, env } = environmentOf(pi);
  const get = (key: string) => pi.service("settings")?.get(`postgres.${key}`);
  const [given, named, wait] = [get("url"), get("schema"), get("exitWaitMs")];
  const schema = typeof named === "string" && named !== "" ? named : "pi_agent";
  const address = findAddress(typeof given === "string" ? given : "", env[URL_VARIABLE] ?? "");
  const isHome = pi.service("settings")?.get("session.store") === STORE_NAME;
  return {
    isEnabled: get("enabled") !== false,
    agentDir,
    schema,
    isDurable: pi.service("settings")?.get("session.durability") === "fsync",
    exitWaitMs: typeof wait === "number" ? wait : isHome && address ? HOME_WAIT_MS : 0,
    address,
    targetId: toTargetId(address, env, schema),
  };
}

/** The variables that the address is in, each of which is a secret. */
export function secretNames({ address }: Pick<PostgresSettings, "address">): string[] {
  const names = address && "template" in address ? namesIn(address.template) : [];
  return [...new Set([URL_VARIABLE, ...names])];
}

/** Makes what the worker needs; runs the command that prints the address, where there is one. Fails with `database_url`. */
export async function toWorkerSettings(
  settings: PostgresSettings,
  pi: Pick<ExtensionAPI, "service" | "exec">,
): Promise<WorkerSettings> {
  const { agentDir, schema, targetId, address } = settings;
  const target: Target = address
    ? { kind: "server", url: await resolveUrl(address, pi) }
    : { kind: "embedded", dir: join(agentDir, "postgres") };
  if (target.kind === "server") parseAddress(target.url);
  return { target, targetId, schema, spool: spoolOf(agentDir) };
}

/** Where what is not in the database yet waits. */
export function spoolOf(agentDir: string): string {
  return join(agentDir, "spool");
}

function findAddress(template: string, variable: string): AddressSource | undefined {
  if (template === EMBEDDED) return undefined;
  if (template !== "") return { template };
  return variable === "" ? undefined : { url: variable };
}

async function resolveUrl(address: AddressSource, pi: Pick<ExtensionAPI, "service" | "exec">): Promise<string> {
  if ("url" in address) return address.url;
  const { template } = address;
  if (!template.startsWith("!")) return fill(template, environmentOf(pi).env);
  const { stdout, code } = await pi.exec("/bin/sh", ["-c", template.slice(1)], { timeout: COMMAND_TIMEOUT_MS });
  const url = stdout.trim();
  if (code === 0 && url !== "") return url;
  throw noUrl(`its command ${code === 0 ? "printed nothing" : `ended with ${code}`}`);
}

function fill(template: string, env: Environment["env"]): string {
  const missing = namesIn(template).filter((name) => !env[name]);
  if (missing.length > 0) throw noUrl(`$${missing.join(", $")} is not set`);
  return template.replace(REFERENCE, (_, sign?: string, a?: string, b?: string) => sign ?? env[a ?? b ?? ""] ?? "");
}

function namesIn(template: string): string[] {
  if (template.startsWith("!")) return [];
  return [...template.matchAll(REFERENCE)].flatMap(([, , braced, plain]) => braced ?? plain ?? []);
}

function noUrl(why: string): DatabaseError {
  return new DatabaseError("database_url", `The address of the database cannot be had: ${why}.`, {
    hint: `Mend the setting postgres.url, or take it out to go by ${URL_VARIABLE}.`,
  });
}

/** What one place is called, whoever connects to it; a password does not change it. */
function toTargetId(address: AddressSource | undefined, env: Environment["env"], schema: string): string {
  try {
    return hash(`${address ? placeOf(address, env) : EMBEDDED} ${schema}`);
  } catch {
    // Told when it is opened. What is written meanwhile goes where the next address leads.
    return ANY_TARGET;
  }
}

function placeOf(address: AddressSource, env: Environment["env"]): string {
  if ("url" in address) return parseAddress(address.url).name;
  // What a command prints is not known before it has run, which nobody waits for.
  return address.template.startsWith("!") ? address.template : parseAddress(fill(address.template, env)).name;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/** The host's service `environment`; a host without one goes by the process's variables. */
function environmentOf(pi: Pick<ExtensionAPI, "service">): Environment {
  const given: unknown = pi.service("environment" as ServiceName);
  if (given) return given as Environment;
  const chosen = process.env.PI_CODING_AGENT_DIR;
  const agentDir = chosen ? resolve(chosen.replace(/^~(?=\/|$)/, homedir())) : join(homedir(), ".pi", "agent");
  return { env: process.env, agentDir };
}
