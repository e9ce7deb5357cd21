import type { Extension } from "@pi-agent/kernel";
import { type ClaimName, conformanceClaims } from "./claims.ts";
import type { ConformanceOptions } from "./options.ts";

/** `test` or `it` of vitest, of node:test, or of another runner that takes a name and an asynchronous function. */
export type RegisterTest = (name: string, check: () => Promise<void>) => unknown;

/** What the suite found. */
export interface ConformanceReport {
  isClean: boolean;
  claims: { name: ClaimName; claim: string; error?: Error }[];
}

/** Holds an extension to what it owes to its host: one test for each claim, or without `test` a report. */
export function testExtension(extension: Extension, options: ConformanceOptions & { test: RegisterTest }): void;
export function testExtension(extension: Extension, options?: ConformanceOptions): Promise<ConformanceReport>;
export function testExtension(
  extension: Extension,
  { test, ...options }: ConformanceOptions & { test?: RegisterTest } = {},
): void | Promise<ConformanceReport> {
  const claims = conformanceClaims(extension, options);
  if (!test) return report(claims);
  for (const { claim, check } of claims) test(claim, check);
}

async function report(claims: ReturnType<typeof conformanceClaims>): Promise<ConformanceReport> {
  const found: ConformanceReport["claims"] = [];
  for (const { name, claim, check } of claims) {
    const error = await check().then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    found.push(error ? { name, claim, error } : { name, claim });
  }
  return { isClean: found.every(({ error }) => error === undefined), claims: found };
}
