import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Workspace packages are tested as sources; `--mode soak` asks the same tests for large counts.
const conditions = ["@pi-agent/source", "node", "import", "default"];

export default defineConfig(({ mode }) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [
      "{kernel,loader,cli,docs}/test/**/*.test.ts",
      "{extensions,docs/examples}/*/test/**/*.test.ts",
      "test/**/*.test.ts",
    ],
    exclude: ["**/node_modules/**", "**/dist/**", "test/compat/**"],
    // One core would be left free by default; much of a test's time is spent waiting for processes.
    maxWorkers: Math.max(2, availableParallelism()),
    env: mode === "soak" ? { SOAK: "1" } : {},
    reporters: ["default", "./test/summary-reporter.ts"],
    testTimeout: mode === "soak" ? 600_000 : 20_000,
  },
}));
