/** A small shop whose discount has a bug, and a test that shows it. By path, relative to the project. */
export const SAMPLE_PROJECT: Readonly<Record<string, string>> = {
  "package.json": `{
  "name": "basket",
  "private": true,
  "type": "module",
  "scripts": { "test": "node --test" }
}
`,
  "README.md": `# Basket

Adds up a basket. Ten pieces or more get 10 % off, fifty or more get 20 %.
`,
  "src/discount.js": `const STEPS = [
  { pieces: 10, rate: 0.1 },
  { pieces: 50, rate: 0.2 },
];

/** The part of the price that is taken off for so many pieces. */
export function discountFor(pieces) {
  const step = STEPS.find((each) => pieces >= each.pieces);
  return step ? step.rate : 0;
}
`,
  "src/basket.js": `import { discountFor } from "./discount.js";

/** What a basket costs, in cents. */
export function totalCents(items) {
  const pieces = items.reduce((sum, item) => sum + item.count, 0);
  const cents = items.reduce((sum, item) => sum + item.count * item.cents, 0);
  return Math.round(cents * (1 - discountFor(pieces)));
}
`,
  "test/basket.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { totalCents } from "../src/basket.js";

test("a few pieces cost their full price", () => {
  assert.equal(totalCents([{ count: 3, cents: 250 }]), 750);
});

test("ten pieces get 10 % off", () => {
  assert.equal(totalCents([{ count: 10, cents: 100 }]), 900);
});

test("sixty pieces get 20 % off", () => {
  assert.equal(totalCents([{ count: 40, cents: 100 }, { count: 20, cents: 50 }]), 4_000);
});
`,
};
