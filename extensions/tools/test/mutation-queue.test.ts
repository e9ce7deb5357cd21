import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mutate } from "../src/index.ts";
import { tempFolder } from "./tool-call.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("changes of one real file run one after the other, in the order of the calls", async () => {
  const folder = tempFolder();
  symlinkSync("file", join(folder, "link"));
  const order: string[] = [];
  const change = (path: string, name: string) =>
    mutate(join(folder, path), async () => {
      order.push(`${name} starts`);
      await turn();
      order.push(`${name} ends`);
      return name;
    });
  expect(await Promise.all([change("file", "a"), change("link", "b"), change("file", "c")])).toEqual(["a", "b", "c"]);
  expect(order).toEqual(["a starts", "a ends", "b starts", "b ends", "c starts", "c ends"]);
});

test("changes of different files run side by side", async () => {
  const folder = tempFolder();
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = mutate(join(folder, "a"), () => promise);
  await mutate(join(folder, "b"), () => resolve("the other file was not waited for"));
  expect(await first).toBe("the other file was not waited for");
});

test("a change that fails does not hold up the next", async () => {
  const path = join(tempFolder(), "file");
  const failing = mutate(path, () => Promise.reject(new Error("broken")));
  const next = mutate(path, () => "fine");
  await expect(failing).rejects.toThrow("broken");
  expect(await next).toBe("fine");
});
