/** Opens what the person's agent directory holds. */
import { type CredentialStore, openCredentials } from "./credentials.ts";
import type { EnvironmentService } from "./host.ts";
import { type ModelStore, openModels } from "./models.ts";
import { type ModelsFile, openModelsFile } from "./models-file.ts";
import type { LoadOptions } from "./options.ts";
import type { Places } from "./places.ts";
import { createPrograms, type Programs } from "./programs.ts";
import type { RegistryOf } from "./provider-table.ts";
import { createResources, type ResourceStore } from "./resources.ts";
import { openSettings, type SettingsStore } from "./settings.ts";

export interface Stores {
  settings: SettingsStore;
  resources: ResourceStore;
  modelsFile: ModelsFile;
  credentials: CredentialStore;
  models: ModelStore;
  environment: EnvironmentService;
  programs: Programs;
}

/** Opens them for wherever the person is at the time; no file but the settings is read before somebody asks. */
export function openStores(
  options: LoadOptions,
  { places, registry }: { places: () => Places; registry: RegistryOf },
): Stores {
  const { agentDir, foreignAgentDir } = places();
  const { sources = ["files"], env = process.env } = options;
  const programs = createPrograms(env, places);
  const settings = openSettings({ agentDir, namespaces: () => registry("settings") });
  const modelsFile = openModelsFile(agentDir);
  const credentials = openCredentials({ agentDir, registry, modelsFile, env, programs });
  return {
    settings,
    resources: createResources({ sources }),
    modelsFile,
    credentials,
    models: openModels({ registry, modelsFile, credentials, settings }),
    environment: Object.freeze({
      env: Object.freeze({ ...env }),
      agentDir: foreignAgentDir ?? agentDir,
      findProgram: (name: string) => programs.find(name),
    }),
    programs,
  };
}
