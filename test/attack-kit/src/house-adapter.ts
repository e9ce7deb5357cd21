import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { SETTINGS_SCHEMA } from "../../../loader/src/settings-schema.ts";
import type { Adapter } from "./adapter.ts";
import { createPiAgentAdapter } from "./pi/pi-agent-adapter.ts";

const CLI = fileURLToPath(new URL("../../../cli/", import.meta.url));

/** Makes the adapter for what is built in this repository. Fails when it cannot be built. */
export function createHouseAdapter(): Adapter {
  const built = process.env.PI_TEST_BIN;
  const { buildIfStale } = createRequire(import.meta.url)(`${CLI}bin/build.js`) as { buildIfStale: () => boolean };
  if (built === undefined && !buildIfStale()) throw new Error("The command could not be built: run pnpm build.");
  const { version } = JSON.parse(readFileSync(`${CLI}package.json`, "utf8")) as { version: string };
  return createPiAgentAdapter({
    version,
    command: [process.execPath, built ?? `${CLI}bin/pi.js`],
    sdk: {
      loader: "@pi-agent/loader",
      packages: ["tools", "openai", "sessions", "system-prompt"].map((name) => `@pi-agent/${name}`),
      flags: ["--conditions", "@pi-agent/source"],
    },
    settings: SETTINGS_SCHEMA,
  });
}
