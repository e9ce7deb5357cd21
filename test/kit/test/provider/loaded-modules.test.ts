import { join } from "node:path";
import { expect, test } from "vitest";
import { listLoadedModules } from "../../src/provider.ts";

test("the modules that a file loads are listed, itself among them", () => {
  const file = join(import.meta.dirname, "../../src/provider/serve.ts");
  expect(listLoadedModules(file).map((url) => url.split("/").at(-1))).toContain("serve.ts");
  expect(() => listLoadedModules(join(import.meta.dirname, "none.ts"))).toThrow("none.ts");
});
