import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { boundText, boundValue } from "../src/bound.ts";
import { Secrets, secretsOf } from "../src/mask.ts";

const secrets = new Secrets();
secrets.learn(["secret-value", "secret-value-longer", "abc", undefined, null]);
const { mask } = secrets;
const open = (text: string) => text;

test("values of variables are masked whole, short ones are left alone", () => {
  expect(mask("x secret-value-longer y secret-value z abc")).toBe("x *** y *** z abc");
});

test("what is learnt later is masked from then on, the longest first", () => {
  const later = new Secrets();
  later.learn(["long-secret"]);
  later.learn(["long-secret-and-more", "long-secret"]);
  expect(later.mask("long-secret-and-more, long-secret")).toBe("***, ***");
});

test("the secrets of a call are its key, and the headers that are named like one", () => {
  const headers = {
    Authorization: "Bearer abcdefgh-ijkl",
    "x-api-key": "plain-key",
    accept: "application/json",
    cookie: null,
  };
  expect(secretsOf({ apiKey: "the-key-itself", headers })).toEqual([
    "the-key-itself",
    "abcdefgh-ijkl",
    "plain-key",
    undefined,
  ]);
  expect(secretsOf({})).toEqual([undefined]);
});

test.each([
  ["sk-abcdefghijklmnop1234", "***"],
  ["AIzaSyA1234567890123456789012345678901", "***"],
  ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "***"],
  ["github_pat_abcdefghijklmnop1234", "***"],
  ["xoxb-1234567890-abc", "***"],
  ["AKIAABCDEFGHIJKLMNOP", "***"],
  ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln", "***"],
  ["Authorization: bearer abcdefghijklmnop==", "Authorization: bearer ***"],
  ["https://me:hunter2hunter2@host/x", "https://me:***@host/x"],
  ["-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "***"],
  [`gsk_${"a1".repeat(26)}`, "***"],
  [`xai-${"a1".repeat(40)}`, "***"],
  [`hf_${"aB".repeat(17)}`, "***"],
  [`sk_live_${"a1".repeat(12)}`, "***"],
  [`SG.${"a-".repeat(11)}.${"b_".repeat(20)}`, "***"],
  [`ya29.${"a0-_".repeat(10)}`, "***"],
  [`pplx-${"a1".repeat(24)}`, "***"],
  ["dckr_pat_abcdefghij-klmnopqrstuv", "***"],
  ["Authorization: Basic dTpw", "Authorization: Basic ***"],
  ['-H "authorization: Bearer abc" -v', '-H "authorization: Bearer ***" -v'],
  ['"Authorization": "Basic dXNlcjpwYXNz"', '"Authorization": "Basic ***"'],
  ["x-api-key: plain-key", "x-api-key: ***"],
  [String.raw`{\"x-api-key\": \"plain-key\"}`, String.raw`{\"x-api-key\": \"***\"}`],
  ["https://host/x?a=1&api_key=plain&b=2", "https://host/x?a=1&api_key=***&b=2"],
  ["apikey=plain access_token=other", "apikey=*** access_token=***"],
  ["password='two words' on", "password=*** on"],
  ['"password": "hunter2"', '"password": "***"'],
  ["export AWS_SECRET_ACCESS_KEY=plain/key", "export AWS_SECRET_ACCESS_KEY=***"],
  ["CLIENT_SECRET=plain MY_KEY=other PATH=/usr/bin", "CLIENT_SECRET=*** MY_KEY=*** PATH=/usr/bin"],
  ["a primary_key=1234 of hf_hub_download_to_a_folder", "a primary_key=1234 of hf_hub_download_to_a_folder"],
  ["basic understanding, token count: 12345", "basic understanding, token count: 12345"],
  ["a plain sentence, with task-list and eye", "a plain sentence, with task-list and eye"],
])("the shape of %s", (text, masked) => {
  expect(mask(text)).toBe(masked);
});

const HOSTILE = [
  "-eyJ",
  "eyJabcdefghijk.",
  "-sk",
  "SG.",
  "SG.aaaaaaaaaaaaaaaaaaaa",
  "://a:",
  "Bearer ",
  "-----BEGIN PRIVATE KEY-----",
  "-----END PRIVATE KEY",
  "authorization: ",
  "authorization:    ",
  "api_key",
  "api_key:",
  "-token",
  "token=",
  `token="'`,
  "secret",
  "_SECRET",
  "A_SECRET",
  "_KEY",
  "a",
  "a.",
  " ",
  '"',
];

test("a megabyte that is made to stall it is masked in time that grows with its length only", () => {
  // A program of its own: an expression that stalls cannot be interrupted in this one.
  const program = `
    const { Secrets } = await import(${JSON.stringify(new URL("../src/mask.ts", import.meta.url).href)});
    const { mask } = new Secrets();
    for (const part of ${JSON.stringify(HOSTILE)}) mask(part.repeat(1_000_000 / part.length));
  `;
  const { status, signal, stderr } = spawnSync(
    process.execPath,
    ["--conditions", "@pi-agent/source", "--input-type=module", "-e", program],
    { timeout: 60_000, encoding: "utf8" },
  );
  expect({ status, signal, stderr }).toMatchObject({ status: 0, signal: null });
}, 90_000);

test("a long text is cut and says how long it was", () => {
  expect(boundText("x".repeat(3_000), open)).toBe(`${"x".repeat(2_000)}… (3000 characters)`);
  expect(boundText("x".repeat(2_000), open)).toBe("x".repeat(2_000));
});

test("no part of a secret stays at a cut", () => {
  const key = `sk-${"k".repeat(300)}`;
  for (let before = 1_600; before < 2_100; before += 7) {
    const text = `${"x ".repeat(before / 2)}${key} ${"y".repeat(9_000)}`;
    expect(boundText(text, mask)).not.toContain("kkk");
    const many = `${`${key} `.repeat(30)}${"y".repeat(100)}`;
    expect(boundText(many.slice(0, before * 4), mask)).not.toContain("kkk");
  }
});

test("long lists, many keys and deep nests are cut", () => {
  expect(boundValue(Array(60).fill(0), open)).toHaveLength(51);
  const keys = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`k${n}`, n]));
  expect(Object.keys(boundValue(keys, open) as object)).toHaveLength(51);
  expect(JSON.stringify(boundValue(JSON.parse("[".repeat(100) + "]".repeat(100)), open))).toBe('[[[[[[[["…"]]]]]]]]');
});

test("what needs no cutting stays as it is", () => {
  const value = { a: [1, true, null, "x"], b: { c: "" } };
  expect(boundValue(value, open)).toEqual(value);
});
