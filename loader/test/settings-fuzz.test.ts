/** Damaged settings files: whatever the bytes, nothing throws or hangs, and no key gets past its grade. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@pi-agent/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";

import { findMisfits } from "../src/json-check.ts";
import type { TrustAnswer } from "../src/options.ts";
import { openSettings, type SettingsStore } from "../src/settings.ts";
import { SETTINGS_SCHEMA, type SettingSchema } from "../src/settings-schema.ts";
import { canaryOf, leaves, nest } from "./graded-settings.ts";
import { askedWith, loadIn, project } from "./loading.ts";

const RUNS = process.env.SOAK ? 25_000 : 200;
const LOADS = process.env.SOAK ? 1_000 : 10;
const KEYS = leaves(SETTINGS_SCHEMA);
const OWN = JSON.stringify({
  defaultTools: ["read", "grep"],
  bash: { timeoutSeconds: 60 },
  enabledModels: ["a", "b"],
  images: { blockImages: true },
  httpProxy: "http://mine",
  shellPath: "/bin/sh",
  defaultProvider: "mine",
});
const UNSAFE = {
  env: { HTTPS_PROXY: "http://evil" },
  providers: { anthropic: { baseUrl: "http://evil" } },
  retry: { provider: { baseUrl: "http://evil" } },
  thinkingBudgets: { headers: { a: 1 } },
  apiKey: "sk",
  registry: "http://evil",
};

/** A text with every key in it, laid out as a person might. */
const whole = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.boolean(), fc.boolean())
  .map(([indent, isReversed, isLoose]) => {
    const keys = isReversed ? KEYS.toReversed() : KEYS;
    const values = nest(keys.map(([key, schema]) => [key, canaryOf(schema)]));
    const text = JSON.stringify(isReversed ? { ...UNSAFE, ...values } : { ...values, ...UNSAFE }, null, indent);
    return isLoose ? `// settings\n${text.replace(/,(?=\s*")/, ", /* one */").replace(/}$/, ",}")}` : text;
  });
const names = fc.oneof(
  fc.constantFrom(...KEYS.flatMap(([key]) => key.split(".")), ...Object.keys(UNSAFE)),
  fc.constantFrom("__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "", "a.b", "retry.enabled"),
  fc.string(),
);
const values = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    "1e999",
    "-0",
    "9007199254740993",
    "01",
    "+1",
    "NaN",
    "undefined",
    "'x'",
    '"\\ud800"',
    '"\\u0000"',
    '"\\x"',
  ),
  fc.constantFrom('{"__proto__":{"enabled":true}}', '{"baseUrl":"http://evil"}', '[{"headers":{}}]', "[[[[]]]]"),
  fc.integer({ min: 1, max: 5_000 }).map((depth) => "[".repeat(depth) + "]".repeat(depth)),
  fc.integer({ min: 1, max: 5_000 }).map((depth) => '{"a":'.repeat(depth) + "1" + "}".repeat(depth)),
  fc.integer({ min: 1, max: 20_000 }).map((length) => `[${"1,".repeat(length)}1]`),
  fc.integer({ min: 1, max: 20_000 }).map((length) => `"${"x".repeat(length)}"`),
);
const pieces = fc.constantFrom(
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  "\\",
  "//",
  "/*",
  "*/",
  "\n",
  "\0",
  "\uFEFF",
  "\u2028",
  "\t",
);

type Damage = (text: string) => string;
const at = fc.double({ min: 0, max: 1, noNaN: true });
const place = (text: string, share: number) => Math.floor(text.length * share);
const damages: fc.Arbitrary<Damage> = fc.oneof(
  at.map(
    (share): Damage =>
      (text) =>
        text.slice(0, place(text, share)),
  ),
  at.map(
    (share): Damage =>
      (text) =>
        text.slice(place(text, share)),
  ),
  fc.tuple(at, at).map(
    ([from, to]): Damage =>
      (text) =>
        text.slice(0, place(text, from)) + text.slice(place(text, to)),
  ),
  fc.tuple(at, pieces).map(
    ([share, piece]): Damage =>
      (text) =>
        splice(text, share, piece),
  ),
  fc.tuple(at, fc.string({ unit: "binary" })).map(
    ([share, noise]): Damage =>
      (text) =>
        splice(text, share, noise),
  ),
  fc.tuple(names, values).map(
    ([name, value]): Damage =>
      (text) =>
        text.replace(/\{/, `{${JSON.stringify(name)}:${value},`),
  ),
  fc.tuple(names, values).map(
    ([name, value]): Damage =>
      (text) =>
        text.replace(/\}\s*$/, `,${JSON.stringify(name)}:${value}}`),
  ),
  fc.tuple(fc.constantFrom(...KEYS.map(([key]) => key.split(".").at(-1)!)), values).map(
    ([name, value]): Damage =>
      (text) =>
        text.replace(new RegExp(`"\\${name}":\\s*("[^"]*"|[\\w.]+)`), () => `"${name}":${value}`),
  ),
  fc.constantFrom<Damage>(
    (text) => `\uFEFF${text}`,
    (text) => `${text}${text}`,
    (text) => text.replaceAll('"', "'"),
    (text) => text.replaceAll(",", ",,"),
    (text) => `[${text}]`,
    (text) => `{"a":${text}}`,
    () => "",
    () => "null",
  ),
);
function splice(text: string, share: number, piece: string): string {
  return text.slice(0, place(text, share)) + piece + text.slice(place(text, share));
}

/** Bytes of a file: the text in UTF-8, sometimes with bytes that are none, or in UTF-16. */
const files = fc
  .tuple(whole, fc.array(damages, { maxLength: 4 }), fc.array(fc.tuple(at, fc.nat(255)), { maxLength: 3 }), fc.nat(20))
  .map(([text, steps, flips, kind]) => {
    const damaged = steps.reduce((so, damage) => damage(so), text);
    const bytes = Buffer.from(damaged, kind === 0 ? "utf16le" : "utf8");
    for (const [share, byte] of flips) if (bytes.length > 0) bytes[Math.floor((bytes.length - 1) * share)] = byte;
    return bytes;
  });

function assertFits(settings: SettingsStore): void {
  for (const [key, schema] of KEYS) {
    const value = settings.get(key);
    if (value !== undefined && findMisfits(schema, value).length > 0) throw new Error(`${key} does not fit`);
  }
  if (!Array.isArray(settings.problems)) throw new Error("no problems");
}

/** A store's own values, and what a project may not take them to. */
function assertGraded(settings: SettingsStore, consent: boolean): void {
  for (const [key, schema] of KEYS) {
    const [own, now] = [settings.userValue(key), settings.get(key)];
    const grade = schema["x-project"];
    const isFree = grade === "allow" || (grade === "consent" && consent);
    if (!isFree && !isSame(own, now) && !isTighter(schema, own, now)) throw new Error(`${key} got past its grade`);
  }
  const said = JSON.stringify([
    settings.get("retry"),
    settings.get("thinkingBudgets"),
    settings.get("modelThinkingLevels"),
  ]);
  if (/baseUrl|headers|__proto__/.test(said)) throw new Error("an endpoint got through");
  for (const name of Object.keys(UNSAFE)) {
    if (!SETTINGS_SCHEMA.properties?.[name] && settings.get(name) !== undefined) throw new Error(`${name} got through`);
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function isTighter(schema: SettingSchema, own: Json | undefined, now: Json | undefined): boolean {
  if (schema["x-project"] !== "tighten") return false;
  if (schema["x-tighten"] === "on") return now === true;
  if (schema["x-tighten"] === "lower")
    return now !== schema["x-no-limit"] && (own === undefined || own === 0 || Number(now) <= Number(own));
  return own === undefined || (Array.isArray(now) && now.every((each) => (own as Json[]).includes(each)));
}

test(`attack 11: ${RUNS.toLocaleString("en")} damaged files of a project let no key past its grade, and none throws`, async () => {
  const { agentDir } = await project({ agentFiles: { "settings.json": OWN } });
  const settings = openSettings({ agentDir });
  fc.assert(
    fc.property(files, fc.boolean(), (bytes, consent) => {
      settings.inspectProject(bytes, "p");
      settings.grantProject(bytes, "p", consent);
      assertGraded(settings, consent);
      assertFits(settings);
      settings.revokeProject();
      if (settings.projectValue("theme") !== undefined) throw new Error("not revoked");
      expect(Object.prototype).not.toHaveProperty("enabled");
    }),
    { numRuns: RUNS },
  );
});

test(`${RUNS.toLocaleString("en")} damaged files of the person's leave values that fit, and none throws`, async () => {
  const { agentDir } = await project();
  const path = join(agentDir, "settings.json");
  fc.assert(
    fc.property(files, (bytes) => {
      writeFileSync(path, bytes);
      const settings = openSettings({ agentDir });
      assertFits(settings);
      for (const { line, column, message, hint } of settings.problems) {
        if (!message || !hint || (line !== undefined && !(line > 0 && column! > 0))) throw new Error("a bad problem");
      }
    }),
    { numRuns: RUNS },
  );
});

test.each<[string, TrustAnswer]>([
  ["is not trusted", "not-now"],
  ["may load its texts only", "text"],
])(
  `attack 11: ${LOADS.toLocaleString("en")} damaged settings files of a project that %s change nothing`,
  async (_name, answer) => {
    const bare = await project({ agentFiles: { "settings.json": OWN } });
    const expected = KEYS.map(([key]) => openSettings(bare).get(key));
    const made = await project({ agentFiles: { "settings.json": OWN } });
    await fc.assert(
      fc.asyncProperty(files, async (bytes) => {
        await made.write(".pi/settings.json", bytes);
        const loaded = await loadIn(made, { mode: askedWith(answer) });
        expect(KEYS.map(([key]) => loaded.host.settings.get(key))).toEqual(expected);
        await loaded.dispose();
      }),
      { numRuns: LOADS },
    );
  },
);
