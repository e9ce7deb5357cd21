import type { Agent, ExtensionAPI, ExtensionEntry, Handler, HookName, Owner } from "../src/index.ts";

/** An extension under a name of its own, so that what is reported of it can be told. */
export function named(
  name: string,
  extension: (pi: ExtensionAPI) => unknown,
  more: { scope?: Owner["scope"]; path?: string; requires?: ExtensionEntry["requires"] } = {},
): ExtensionEntry {
  const { scope = "user", path, requires } = more;
  return { extension: extension as ExtensionEntry["extension"], owner: { name, scope, path }, requires };
}

/** An extension with one handler, which may answer anything. */
export function handles(name: string, hook: HookName, handler: (...given: never[]) => unknown): ExtensionEntry {
  return named(name, (pi) => void pi.on(hook, handler as unknown as Handler<HookName>));
}

/** What is reported of extensions while an agent lives: `owner event code`. */
export function faultsOf(agent: Agent): string[] {
  const faults: string[] = [];
  agent.on("extension_error", ({ owner, event, code }) => void faults.push(`${owner} ${event} ${code}`));
  return faults;
}

/** Prompts, and waits until the agent is idle again. */
export async function prompt(agent: Agent, text = "go"): Promise<void> {
  await agent.input(text);
  await agent.settled();
}
