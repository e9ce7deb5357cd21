import { join } from "node:path";
import { defineConfig } from "vitest/config";

// What needs other programs than ours: `pnpm compat` fetches them from the npm registry, and nothing else does.
const conditions = ["@pi-agent/source", "node", "import", "default"];
// Pi takes a second to start, and is started some thousand times.
const LIMIT_MS = 7_200_000;

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["test/compat/**/*.test.ts"],
    reporters: ["default", join(import.meta.dirname, "..", "summary-reporter.ts")],
    testTimeout: LIMIT_MS,
    hookTimeout: LIMIT_MS,
  },
});
