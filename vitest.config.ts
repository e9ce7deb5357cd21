import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Workspace packages are tested as sources; `--mode soak` asks the same tests for large counts.
// They hold for `require`, too, so `import` is not among them.
const conditions = ["@pi-agent/source", "node"];

// Where processes that tests start keep what Node compiled, types stripped, for the next one: each has a home of its own.
const compiled = fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));

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
    // A process for each file would start, and read all sources, some three hundred times.
    isolate: false,
    setupFiles: "./test/leaves-nothing.ts",
    // One core would be left free by default; much of a test's time is spent waiting for processes.
    maxWorkers: Math.max(2, availableParallelism()),
    env: { NODE_COMPILE_CACHE: compiled, ...(mode === "soak" && { SOAK: "1" }) },
    reporters: ["default", "./test/summary-reporter.ts"],
    testTimeout: mode === "soak" ? 600_000 : 20_000,
  },
}));
