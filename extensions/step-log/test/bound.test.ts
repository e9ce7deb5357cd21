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
  ["a plain sentence, with task-list and eye", "a plain sentence, with task-list and eye"],
])("the shape of %s", (text, masked) => {
  expect(mask(text)).toBe(masked);
});

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
