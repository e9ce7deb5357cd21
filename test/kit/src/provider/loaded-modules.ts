import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";

/** Lists the URLs of the modules that the import of a source file loads, itself among them, in a process of its own. */
export function listLoadedModules(path: string): string[] {
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import(${JSON.stringify(pathToFileURL(path).href)});
    console.log(JSON.stringify(loaded));
  `;
  const args = ["--conditions", "@pi-agent/source", "--input-type=module", "-e", script];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  assert.deepEqual([status, stderr], [0, ""]);
  return JSON.parse(stdout);
}
