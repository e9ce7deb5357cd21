import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startVerdaccio } from "../../../test/e2e/packages-verdaccio.ts";
import { EXTENSION, openBench } from "./bench.ts";

test("P7: a private package comes from a real registry with the person's token, and the project's .npmrc has no effect", {
  timeout: 60_000,
}, async () => {
  await using registry = await startVerdaccio();
  const { pi, write, put, agentDir } = await openBench();
  await registry.publish({ name: "@corp/tools", version: "1.0.0" }, EXTENSION);
  const host = registry.url.slice("http:".length);
  await put(".npmrc", `@corp:registry=http://127.0.0.1:9/\n${host}/:_authToken=not-the-token\n`);
  await write(".npmrc", `@corp:registry=${registry.url}/\n`);
  const denied = await pi("install", "@corp/tools", "--yes");
  expect(denied).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(".npmrc") });
  await write(".npmrc", `@corp:registry=${registry.url}/\n${host}/:_authToken=${registry.token}\n`);
  const { stdout, stderr } = await pi("install", "@corp/tools", "--yes");
  expect(stdout).toBe("Installed @corp/tools 1.0.0 for you: 1 extension.\n");
  const files = await Promise.all(
    ["settings.json", "pi.lock.json"].map((name) => readFile(join(agentDir, name), "utf8")),
  );
  expect([stdout, stderr, ...files].join("")).not.toContain(registry.token);
});
