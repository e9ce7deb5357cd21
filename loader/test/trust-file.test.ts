import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { Compile } from "typebox/schema";
import { expect, test } from "vitest";
import { findMisfits, type JsonSchema } from "../src/json-check.ts";
import { parseTrustFile, type TrustRecord, wordTrustFault } from "../src/trust-file.ts";
import { plainPath, readTrust, recordPath } from "../src/trust-store.ts";
import { project } from "./loading.ts";

const NUM_RUNS = process.env.SOAK ? 50_000 : 200;

const schema = JSON.parse(readFileSync(new URL("../../trust.schema.json", import.meta.url), "utf8")) as {
  $schema: string;
  $defs: Record<"plain" | "record", JsonSchema>;
};

const VALIDATORS = { plain: Compile(schema.$defs.plain as never), record: Compile(schema.$defs.record as never) };

const DIGEST = `sha256-${"0".repeat(64)}`;
function record(key: string, more: Partial<TrustRecord> = {}): TrustRecord {
  return {
    version: 1,
    project: key,
    bound: "content",
    decision: "denied",
    below: true,
    resources: { "extension:a": { kind: "extension", digest: DIGEST, members: { "a.ts": DIGEST, l: "link b" } } },
    decidedAt: "2026-11-30T00:00:00.000Z",
    decidedBy: "prompt",
    ...more,
  };
}

// ---------------------------------------------------------------- schema

test("the published schema is one of draft 2020-12 that an independent validator takes", () => {
  expect(schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
  const whole = Compile(schema as never);
  expect(whole.Check(record("/x"))).toBe(true);
  expect(whole.Check({ "/x": true, "/y": false, "/z": null })).toBe(true);
  for (const other of [[], null, "yes", { "/x": "yes" }, { ...record("/x"), version: 2 }]) {
    expect(whole.Check(other)).toBe(false);
  }
});

test("the published schema says nothing that our own check would not look at", () => {
  const words = new Set<string>();
  const walk = (part: object, isMap = false) => {
    for (const [word, value] of Object.entries(part)) {
      if (!isMap) words.add(word);
      if (typeof value === "object" && !Array.isArray(value)) walk(value as object, word === "properties");
    }
  };
  walk(schema.$defs.plain);
  walk(schema.$defs.record);
  expect([...words].sort()).toEqual(
    ["additionalProperties", "description", "enum", "properties", "required", "type"].sort(),
  );
});

test("our own check and an independent validator take the same files", () => {
  fc.assert(
    fc.property(fc.constantFrom("plain", "record"), damagedValue(), (kind, value) => {
      const isFit = findMisfits(schema.$defs[kind], value).length === 0;
      expect(isFit, JSON.stringify(value)).toBe(VALIDATORS[kind].Check(value));
    }),
    { numRuns: NUM_RUNS },
  );
});

// ---------------------------------------------------------------- damage

test("T6, F041: damage makes no yes: where one counts, every file is whole, and says nothing else", async () => {
  const [at, other] = [await project(), await project()];
  const denied = JSON.stringify(record(at.path), null, 2);
  const trusted = JSON.stringify(record(other.path, { decision: "trusted", bound: "folder" }), null, 2);
  const never = JSON.stringify({ "/a": true, [other.path]: false, "/b": null }, null, 2);
  await at.write(plainPath(at.agentDir), "{}");
  await other.write(recordPath(other.agentDir, other.path), trusted);
  await mkdir(join(at.agentDir, "trust.d"));
  fc.assert(
    fc.property(damage(denied), damage(never), (ofRecord, ofPlain) => {
      writeNew(recordPath(at.agentDir, at.path), ofRecord);
      const { approvals } = readTrust(at.agentDir, at.path);
      const said = approvals.length > 0 ? readAnotherWay(ofRecord, "record") : {};
      expect(said, ofRecord.toString()).not.toMatchObject({ decision: "denied" });
      writeNew(plainPath(other.agentDir), ofPlain);
      const beside = readTrust(other.agentDir, other.path);
      const isYes = beside.approvals.length > 0 && beside.denial === undefined;
      // What is left may be a whole file that says something else: nobody can tell that from what was written.
      const plain = isYes ? readAnotherWay(ofPlain, "plain") : {};
      expect(plain, ofPlain.toString()).not.toMatchObject({ [other.path]: false });
    }),
    { numRuns: NUM_RUNS },
  );
});

/** Puts a new file there: writing into the old one, the file system would wait for the disk. */
function writeNew(path: string, bytes: Uint8Array): void {
  rmSync(path, { force: true });
  writeFileSync(path, bytes, { mode: 0o600 });
}

/** What the bytes say, as found with another parser and validator. Fails where two readers could differ about it. */
function readAnotherWay(bytes: Buffer, kind: "plain" | "record"): object {
  const text = bytes.toString().replace(/^\uFEFF/, "");
  let count = 0;
  const value = JSON.parse(text, (_key, member: unknown) => {
    if (typeof member === "object" && member !== null) count += Object.keys(member).length;
    return member;
  }) as object;
  expect(VALIDATORS[kind].Check(value), text).toBe(true);
  expect(text.match(/"(?:[^"\\]|\\.)*"(?=\s*:)/g)?.length ?? 0, text).toBe(count);
  return value;
}

test("T6: whatever is put before, into or behind a no does not make it a yes", () => {
  const text = JSON.stringify(record("/x"));
  for (const extra of EXTRAS) {
    for (let place = 0; place <= text.length; place++) {
      const bytes = Buffer.from(text.slice(0, place) + extra + text.slice(place));
      let decision: string | undefined;
      try {
        ({ decision } = parseTrustFile(bytes, "record"));
      } catch {
        // Refused: no yes.
      }
      expect(["denied", undefined], bytes.toString()).toContain(decision);
    }
  }
});

test("T6: what is read from damaged bytes is a whole record just as it stands there, or nothing", () => {
  const text = JSON.stringify(record("/x", { decision: "trusted" }), null, 2);
  fc.assert(
    fc.property(damage(text), (bytes) => {
      try {
        const read = parseTrustFile(bytes, "record");
        expect(read).toEqual(JSON.parse(bytes.toString().replace(/^\uFEFF/, "")));
        expect(findMisfits(schema.$defs.record, read)).toEqual([]);
      } catch (fault) {
        expect(fault).toBeInstanceOf(Error);
        expect(wordTrustFault(fault).length).toBeLessThanOrEqual(301);
      }
    }),
    { numRuns: NUM_RUNS },
  );
});

const MB = 1 << 20;

test.each([
  ["deep lists", "[".repeat(16 * MB)],
  ["closed deep lists", "[".repeat(8 * MB) + "]".repeat(8 * MB)],
  ["closed deep objects", `${'{"version":'.repeat(MB)}1${"}".repeat(MB)}`],
  ["a long text", `{"version":"${"x".repeat(8 * MB)}"}`],
  ["a long key", `{"${"x".repeat(8 * MB)}":1}`],
  ["many escapes", `{"version":"${"\\\\".repeat(2 * MB)}"}`],
  ["an open text of escapes", `{"version":"${'\\"'.repeat(4 * MB)}`],
  ["many quotes", '"'.repeat(8 * MB)],
  ["many blanks", `{"version":"1"${" ".repeat(8 * MB)}}`],
  ["many keys", `{${Array.from({ length: 50_000 }, (_, index) => `"/${index}":1`).join()}}`],
  ["a large number", `{"version":1${"0".repeat(8 * MB)}}`],
  ["more than 16 MB", `{"version":1}${" ".repeat(16 * MB)}`],
  ["NUL alone", "\0".repeat(MB)],
])("T6, attack 47: %s in place of a trust file: soon refused", (_what, text) => {
  for (const kind of ["plain", "record"] as const) expect(() => parseTrustFile(Buffer.from(text), kind)).toThrow();
});

const EXTRAS = [
  '"decision":"trusted",',
  '"\\u0064ecision":"trusted",',
  '"__proto__":{"decision":"trusted"},',
  '"constructor":{"prototype":{}},',
  '"version":2,',
  `"project":"/",`,
  ',"decision":"trusted"}',
  '{"decision":"trusted"}',
  "true",
  "null",
  "1e999",
  "-0",
  "// trusted\n",
  "\0",
  "\uFEFF",
  "[".repeat(1_000),
  '{"a":'.repeat(1_000),
  "9".repeat(400),
];

type Damage = (bytes: Buffer) => Buffer;

/** The bytes of a text, damaged in one or more of the ways in which files are damaged, or attacked. */
function damage(text: string): fc.Arbitrary<Buffer> {
  const place = fc.nat(text.length);
  const splice =
    (from: number, to: number, put: string | Uint8Array): Damage =>
    (bytes) =>
      Buffer.concat([bytes.subarray(0, from), Buffer.from(put as string), bytes.subarray(to)]);
  const extra = fc.constantFrom(...EXTRAS);
  const step = fc.oneof(
    place.map((at) => splice(at, Number.MAX_SAFE_INTEGER, "")),
    fc.tuple(place, place).map(([a, b]) => splice(Math.min(a, b), Math.max(a, b), "")),
    fc.tuple(place, fc.uint8Array({ minLength: 1, maxLength: 4 })).map(([a, put]) => splice(a, a + put.length, put)),
    fc.tuple(place, fc.nat(7)).map(([a, bit]) => flipBit(a, bit)),
    fc.tuple(place, extra).map(([a, put]) => splice(a, a, put)),
    extra.map((put) => splice(1, 1, put)),
    extra.map((put) => splice(0, 0, put)),
    fc.tuple(place, place, place).map(([a, b, c]) => (bytes: Buffer) => {
      return splice(c, c, bytes.subarray(Math.min(a, b), Math.max(a, b)))(bytes);
    }),
  );
  return fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => {
    return steps.reduce<Buffer>((bytes, apply) => apply(bytes), Buffer.from(text));
  });
}

function flipBit(at: number, bit: number): Damage {
  return (bytes) => {
    const copy = Buffer.from(bytes);
    if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << bit);
    return copy;
  };
}

/** A record or a plain file with one thing replaced, added or taken away, or anything at all. */
function damagedValue(): fc.Arbitrary<unknown> {
  const any = fc.jsonValue({ maxDepth: 3 });
  const keys = [...Object.keys(record("/x")), "$schema", "also"];
  const changed = fc
    .tuple(fc.constantFrom(...keys), fc.oneof(any, fc.constant(undefined)))
    .map(([key, value]) => JSON.parse(JSON.stringify({ ...record("/x"), [key]: value })) as unknown);
  const resources = fc.dictionary(fc.string(), fc.record({ kind: any, digest: any, members: any, held: any }));
  const plain = fc.dictionary(fc.string(), fc.oneof(fc.boolean(), fc.constant(null), any));
  const strings = fc.dictionary(fc.string(), fc.string());
  const fitting = fc.dictionary(fc.string(), fc.record({ kind: fc.string(), digest: fc.string(), members: strings }));
  const nested = fc.oneof(resources, fitting).map((each) => record("/x", { resources: each as never }));
  return fc.oneof(any, changed, plain, nested);
}
