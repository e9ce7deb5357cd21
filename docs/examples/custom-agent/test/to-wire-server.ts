/**
 * Loaded into the agent's process before it: sends what goes to Anthropic to the server at WIRE_URL, and at the end
 * writes the names of the workspace packages that were imported to the file LOADED.
 */
import { writeFileSync } from "node:fs";
import { registerHooks } from "node:module";

const { WIRE_URL = "", LOADED = "" } = process.env;
const ROOT = new URL("../../../../", import.meta.url).href;
const loaded = new Set<string>();

registerHooks({
  load(url, context, next) {
    const room = /^(kernel|loader|cli|extensions\/[^/]+)\//.exec(url.startsWith(ROOT) ? url.slice(ROOT.length) : "");
    if (room) loaded.add(room[1]!);
    return next(url, context);
  },
});
process.once("exit", () => writeFileSync(LOADED, JSON.stringify([...loaded].sort())));

const outside = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  if (url.origin !== "https://api.anthropic.com") throw new Error(`Nothing should ask ${url.origin}.`);
  return outside(new URL(url.pathname + url.search, WIRE_URL), init);
};
