import { expect, test } from "vitest";
import { FORMATS } from "../../src/wire-server/answer-request.ts";
import type { Wire, WireName } from "./exchange.ts";

/** A request that breaks one rule, and optionally one next to it that breaks none. */
export interface RuleCase {
  rule: string;
  status?: number;
  bad: unknown;
  good?: unknown;
  headers?: Record<string, string>;
  path?: string;
}

/** Makes a test of every rule of a format, which fails for a rule without a case. */
export function testRules(format: WireName, given: { wire: () => Wire; cases: () => RuleCase[]; error: object }): void {
  const names = FORMATS.find((each) => each.name === format)?.rules.map((rule) => rule.name) ?? [];
  test.for(names)(`${format} refuses %s in its own words, and takes what is next to it`, async (name) => {
    const cases = given.cases().filter(({ rule }) => rule === name);
    expect(cases.length).toBeGreaterThan(0);
    for (const { status = 400, bad, good, headers, path } of cases) {
      const sent = await given.wire().send(bad, { headers, path });
      expect({ rule: sent.rule, status: sent.status }).toEqual({ rule: name, status });
      expect(JSON.parse(sent.text)).toMatchObject(given.error);
      if (good) expect(await given.wire().send(good)).toMatchObject({ status: 200, rule: undefined });
    }
  });
  test(`${format}: every case is of a rule that exists`, () => {
    expect(given.cases().filter(({ rule }) => !names.includes(rule))).toEqual([]);
  });
}
