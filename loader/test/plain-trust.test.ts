import { lstatSync, readFileSync } from "node:fs";
import { readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withLock } from "../src/locked-file.ts";
import { parseTrustFile } from "../src/trust-file.ts";
import { listDecisions, plainPath, readTrust } from "../src/trust-store.ts";
import { asideIn, FOLDER, NEVER, plainOf, resource, say, writePlain } from "./deciding.ts";
import { project } from "./loading.ts";

test("Pi is told a no and a yes to the folder, in its own way of writing: sorted, two spaces, a newline", async () => {
  const at = await project();
  await writePlain(at, { "/z": true, "/b": null, "/a": false });
  await say(at, NEVER);
  const written = (said: boolean) => `{\n  "/a": false,\n  "/b": null,\n  "${at.path}": ${said},\n  "/z": true\n}\n`;
  expect(await plainOf(at)).toBe(written(false));
  await say(at, FOLDER);
  expect(await plainOf(at)).toBe(written(true));
  expect((await stat(plainPath(at.agentDir))).mode & 0o777).toBe(0o600);
});

test.each([
  ["this content, after a no of ours", NEVER, {}, undefined],
  ["this content, after a no of Pi's", false, {}, undefined],
  ["text only, after a no", NEVER, { decision: "text" } as const, undefined],
  ["this content, after our yes to the folder", FOLDER, {}, undefined],
  ["text only, after our yes to the folder", FOLDER, { decision: "text" } as const, undefined],
  ["never, after Pi's own yes", true, NEVER, false],
  ["this content, beside Pi's own yes", true, {}, true],
  ["this folder, after a no", NEVER, FOLDER, true],
])("trust.json after %s", async (_what, before, change, expected) => {
  const at = await project();
  if (typeof before === "boolean") await writePlain(at, { [at.path]: before });
  else await say(at, before);
  await say(at, change);
  const plain = parseTrustFile(Buffer.from(await plainOf(at)), "plain");
  expect(plain[at.path]).toBe(expected);
  const { denial, approvals } = readTrust(at.agentDir, at.path);
  expect({ isDenied: denial !== undefined, isApproved: approvals.length === 1 }).toEqual({
    isDenied: expected === false,
    isApproved: expected !== false,
  });
});

test("what Pi need not know leaves its file and its lock alone", async () => {
  const at = await project();
  const text = `{"${at.path}":true}`;
  await writePlain(at, text);
  // Nobody waits for this lock: it is not asked for.
  await withLock(plainPath(at.agentDir), 0, async () => say(at, resource("x")));
  expect(await plainOf(at)).toBe(text);
});

test.each([
  ["empty", ""],
  ["cut", "{"],
  ["a list", "[]"],
  ["null", "null"],
  ["with another word", `{ "/w": "yes" }`],
  ["with a repeated key", `{ "/w": false, "/w": true }`],
])("T6, F041: a trust.json that is %s is kept aside when a decision is saved", async (_what, text) => {
  for (const change of [NEVER, FOLDER, {}]) {
    const at = await project();
    await writePlain(at, text);
    await say(at, change);
    const [aside = ""] = asideIn(at.agentDir);
    expect(await readFile(join(at.agentDir, aside), "utf8")).toBe(text);
    expect(aside).toMatch(/^trust\.json\.damaged-\d{4}-/);
    expect(() => parseTrustFile(readFileSync(plainPath(at.agentDir)), "plain")).not.toThrow();
    expect(readTrust(at.agentDir, at.path).notes).toEqual([]);
    expect(listDecisions(at.agentDir).notes).toMatchObject([{ path: join(at.agentDir, aside) }]);
  }
});

test("F041: a trust.json that begins with a byte order mark is read as Pi reads it, and keeps what it says", async () => {
  const at = await project();
  await writePlain(at, `\uFEFF{ "/w": false }`);
  await say(at, NEVER);
  expect(JSON.parse(await plainOf(at))).toEqual({ "/w": false, [at.path]: false });
  expect(asideIn(at.agentDir)).toEqual([]);
});

test("F041, attack 43: a linked trust.json is neither followed nor replaced; what was said is not said to be saved", async () => {
  const at = await project({ files: { "real.json": "{}" } });
  await symlink(join(at.path, "real.json"), plainPath(at.agentDir));
  for (const change of [NEVER, FOLDER, {}]) {
    await expect(say(at, change)).rejects.toMatchObject({
      code: "trust_not_saved",
      message: expect.stringContaining(`${plainPath(at.agentDir)} is a link`),
      hint: expect.any(String),
    });
  }
  expect(lstatSync(plainPath(at.agentDir)).isSymbolicLink()).toBe(true);
  expect(await at.read("real.json")).toBe("{}");
});
