/**
 * `pnpm build` bundles the command, which carries kernel, loader and the default packages.
 * `pnpm build --all` also builds every package by itself, with its types, as it is published.
 */
import { readdirSync } from "node:fs";
import { defineConfig, type UserConfig } from "tsdown";

const shared: UserConfig = {
  format: "esm",
  platform: "node",
  target: "node22.22",
  fixedExtension: false,
  clean: true,
  report: false,
  // What one package imports at its first use, another may need from the start.
  checks: { ineffectiveDynamicImport: false, pluginTimings: false },
  // Of some libraries only what is for bundlers can be bundled.
  inputOptions: {
    resolve: { conditionNames: ["@pi-agent/source", "node", "import", "default"], mainFields: ["module", "main"] },
  },
};

const command: UserConfig = {
  ...shared,
  name: "cli",
  cwd: "cli",
  entry: { main: "src/main.ts" },
  minify: true,
  dts: false,
  deps: {
    alwaysBundle: [/./],
    // jiti loads its compiler lazily from its own folder; ripgrep is a program.
    neverBundle: [/^jiti(\/|$)/, /^@vscode\/ripgrep/],
    onlyBundle: false,
  },
};

const DOORS: Readonly<Record<string, Record<string, string>>> = {
  "extensions/postgres": { index: "src/index.ts", worker: "src/worker.ts" },
  "extensions/sessions": { index: "src/index.ts", conformance: "src/conformance.ts" },
  "test/kit": { index: "src/index.ts", provider: "src/provider.ts", wire: "src/wire.ts" },
  "test/attack-kit": { index: "src/index.ts", "sdk-process": "src/pi/sdk-process.ts" },
};

function libraryConfig(folder: string): UserConfig {
  return {
    ...shared,
    name: folder,
    cwd: folder,
    entry: DOORS[folder] ?? { index: "src/index.ts" },
    dts: true,
    suppressWarnings: [/tsgo/],
  };
}

const folders = [
  "kernel",
  "loader",
  "test/kit",
  "test/attack-kit",
  ...readdirSync("extensions").map((name) => `extensions/${name}`),
];

export default defineConfig(process.argv.includes("--all") ? [command, ...folders.map(libraryConfig)] : command);
