import { defineConfig } from "vitest/config";

const conditions = ["@pi-agent/source"];

export default defineConfig({
  resolve: { conditions: [...conditions, "node", "import", "default"] },
  ssr: { resolve: { conditions: [...conditions, "node", "import", "default"] } },
  test: {
    include: ["{kernel,loader,cli}/test/**/*.test.ts", "extensions/*/test/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**", "test/compat/**"],
    reporters: ["default", "./test/summary-reporter.ts"],
    testTimeout: 20_000,
  },
});
