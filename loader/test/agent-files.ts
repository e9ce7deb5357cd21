import type { ExtensionEntry, Model, Owner } from "@pi-agent/kernel";
import { createAgent } from "@pi-agent/kernel";
import { tempProject } from "../../test/kit/src/index.ts";
import { openCredentials } from "../src/credentials.ts";
import { openModels } from "../src/models.ts";
import { openModelsFile } from "../src/models-file.ts";
import { openSettings } from "../src/settings.ts";

export function model(owner: string, id: string, more: Partial<Model> = {}): Model {
  const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 };
  const fixed = { reasoning: false, input: ["text" as const], cost, contextWindow: 1_000, maxTokens: 100 };
  return { id, name: id.toUpperCase(), provider: owner, api: `${owner}-api`, ...fixed, ...more };
}

/** An extension that registers a provider, its api and its models, as somebody of a scope. */
export function provider(
  id: string,
  models: (string | Model)[],
  more: { env?: string[]; owner?: Partial<Owner>; baseUrl?: string } = {},
): ExtensionEntry {
  const { env = [`${id.toUpperCase()}_KEY`], owner, baseUrl } = more;
  return {
    owner: { name: `${id}-package`, scope: "official", ...owner },
    extension(pi) {
      pi.register("api", `${id}-api`, { stream: () => Promise.reject(new Error("not asked")) as never });
      const listed = models.map((each) => (typeof each === "string" ? model(id, each) : each));
      pi.registerProvider({ id, api: `${id}-api`, models: listed, env, baseUrl });
    },
  };
}

/** Opens settings, credentials and models of an agent directory with these files, over a real agent. */
export async function open(
  extensions: ExtensionEntry[],
  { files = {}, env = {} }: { files?: Record<string, unknown>; env?: NodeJS.ProcessEnv } = {},
) {
  const texts = Object.entries(files).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value, null, 2),
  ]);
  const project = await tempProject({ agentFiles: Object.fromEntries(texts) as Record<string, string> });
  const { agentDir } = project;
  const agent = createAgent({ extensions });
  await agent.ready();
  const registry: typeof agent.registry = (kind) => agent.registry(kind);
  const modelsFile = openModelsFile(agentDir);
  const credentials = openCredentials({ agentDir, registry, modelsFile, env: { PATH: process.env.PATH, ...env } });
  const settings = openSettings({ agentDir });
  const models = openModels({ registry, modelsFile, credentials, settings });
  return {
    project,
    agentDir,
    agent,
    credentials,
    models,
    modelsFile,
    settings,
    async [Symbol.asyncDispose]() {
      await agent.dispose();
      await project.cleanup();
    },
  };
}
