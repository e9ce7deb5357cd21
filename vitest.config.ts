import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Workspace packages are tested as sources; `--mode soak` asks the same tests for large counts.
// They hold for `require`, too, so `import` is not among them.
const conditions = ["@pi-agent/source", "node"];

// Where processes that tests start keep what Node compiled, types stripped, for the next one: each has a home of its own.
const compiled = fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));

const UNTESTED = ["**/node_modules/**", "**/dist/**", "test/compat/**"];
const POSTGRES = "extensions/postgres/test/**/*.test.ts";

export default defineConfig(({ mode }) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // A process for each file would start, and read all sources, some three hundred times.
    isolate: false,
    setupFiles: "./test/leaves-nothing.ts",
    // One core would be left free by default; much of a test's time is spent waiting for processes.
    maxWorkers: Math.max(2, availableParallelism()),
    env: { NODE_COMPILE_CACHE: compiled, ...(mode === "soak" && { SOAK: "1" }) },
    projects: [
      {
        extends: true,
        test: {
          name: "house",
          include: [
            "{kernel,loader,cli,docs}/test/**/*.test.ts",
            "{extensions,docs/examples}/*/test/**/*.test.ts",
            "test/**/*.test.ts",
          ],
          exclude: [...UNTESTED, POSTGRES],
        },
      },
      {
        extends: true,
        // Each of these opens databases in threads, and must not be there with those of the others.
        test: { name: "postgres", include: [POSTGRES], exclude: UNTESTED, isolate: true },
      },
    ],
    reporters: ["default", "./test/summary-reporter.ts"],
    testTimeout: mode === "soak" ? 600_000 : 20_000,
  },
}));
