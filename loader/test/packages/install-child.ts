/**
 * Installs or updates a package, telling on standard output what it is doing:
 *
 *   node --conditions @pi-agent/source install-child.ts <home> install|update <source>
 */
import { join } from "node:path";
import { installPackage, updatePackages } from "../../src/packages/index.ts";

const [home = "", operation, source = ""] = process.argv.slice(2);
const context = {
  agentDir: join(home, ".pi", "agent"),
  home,
  env: { PATH: process.env.PATH, HOME: home },
  findProgram: () => undefined,
  hostVersions: {},
  isLent: () => true,
  onProgress: ({ step, what }: { step: string; what: string }) => process.stdout.write(`${step} ${what}\n`),
};
const run =
  operation === "update"
    ? updatePackages(context, { source, cwd: home })
    : installPackage(context, source, { cwd: home });
process.stdout.write(`${(await run).status}\n`);
