import { readdirSync, statSync } from "node:fs";
import { rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readKept } from "../src/kept-contents.ts";
import { digestBytes } from "../src/plan.ts";
import { forget } from "../src/trust-writer.ts";
import { NEVER, resource, say } from "./deciding.ts";
import { project } from "./loading.ts";

test("texts that were approved are kept for a diff, as long as a record names them", async () => {
  const at = await project();
  const other = { agentDir: at.agentDir, path: join(at.path, "other") };
  const digestOf = (text: string) => digestBytes(Buffer.from(text));
  await say(at, resource("one"));
  await say(other, resource("one"));
  expect(readKept(at.agentDir, digestOf("one"))?.toString()).toBe("one");
  await say(at, resource("two"));
  expect(readKept(at.agentDir, digestOf("one"))?.toString()).toBe("one");
  await forget(at.agentDir, other.path);
  expect(readKept(at.agentDir, digestOf("one"))).toBeUndefined();
  await say(at, NEVER);
  expect(readdirSync(join(at.agentDir, "cache/approved"))).toEqual([]);
});

test("what is no text, too large, or named by no record is not kept", async () => {
  const at = await project();
  for (const content of [Buffer.from([0xff, 0xfe]), "a\0b", "x".repeat((1 << 20) + 1)])
    await say(at, resource(content));
  const { contents } = resource("unnamed");
  await say(at, { contents });
  expect(readdirSync(at.agentDir)).toEqual(["trust.d"]);
});

test("T6: a kept text that is not what it was is not shown, and kept anew", async () => {
  const at = await project();
  const digest = digestBytes(Buffer.from("approved"));
  await say(at, resource("approved"));
  const path = join(at.agentDir, "cache/approved", digest.slice("sha256-".length));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await writeFile(path, "something else");
  expect(readKept(at.agentDir, digest)).toBeUndefined();
  await rm(path);
  await symlink(await at.write("approved.txt", "approved"), path);
  expect(readKept(at.agentDir, digest)).toBeUndefined();
  await say(at, resource("approved"));
  expect(readKept(at.agentDir, digest)?.toString()).toBe("approved");
  for (const name of ["../../trust.json", "sha256-../../trust.json", `sha256-${"0".repeat(64)}`, ""])
    expect(readKept(at.agentDir, name)).toBeUndefined();
});
