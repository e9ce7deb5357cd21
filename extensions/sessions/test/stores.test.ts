import { expect, test } from "vitest";
import { assertSameStores, playOperations, randomOperations, sessionStoreCases } from "../src/conformance.ts";
import { FileStore } from "../src/file-store.ts";
import { findPlace } from "../src/location.ts";
import { MemoryStore } from "../src/memory-store.ts";
import { tempFolder } from "./support.ts";

const operations = process.env.SOAK ? 10_000 : 1_000;

const STORES = {
  files: async () => {
    const folder = tempFolder();
    const placeOf = () => findPlace("/project", folder);
    const report = (message: string) => void notices.push(message);
    const notices: string[] = [];
    const reopen = async () => new FileStore({ placeOf, durability: () => "flush", report });
    return { store: await reopen(), reopen };
  },
  memory: async () => {
    const store = new MemoryStore();
    return { store, reopen: async () => store };
  },
};

for (const [store, open] of Object.entries(STORES)) {
  for (const { name, run } of sessionStoreCases({ operations })) test(`${store}: ${name}`, () => run(open));
}

test("F160 the same operations leave files and memory equal", async () => {
  const [files, memory] = await Promise.all(
    [STORES.files, STORES.memory].map(async (open) => playOperations(await open(), randomOperations(7, operations))),
  );
  await assertSameStores(files!, memory!);
  expect((await files!.list()).length).toBeGreaterThan(1);
});
