import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Extension } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { type ClaimName, testExtension } from "../../src/index.ts";
import sound from "./sound-extension.ts";

const FOLDER = join(import.meta.dirname, "../faulty");
const QUICK = { graceMs: 200, patienceMs: 1_000 };

const FAULTS: Record<string, { claim: ClaimName; says: RegExp }> = {
  "leaves-an-interval": { claim: "unload", says: /a timer made at .*leaves-an-interval\.ts/ },
  "leaves-a-process-listener": { claim: "unload", says: /a listener of process for SIGWINCH/ },
  "leaves-a-bus-listener": { claim: "unload", says: /a call of pi\.events\.on after it was unloaded/ },
  "leaves-a-settings-listener": { claim: "unload", says: /a listener of the settings/ },
  "leaves-a-global": { claim: "unload", says: /the global lastExtension/ },
  "replaces-a-builtin": { claim: "unload", says: /JSON\.stringify, which it replaced/ },
  "leaves-a-child": { claim: "unload", says: /a child process made at .*leaves-a-child\.ts/ },
  "keeps-a-file-open": { claim: "unload", says: /the open file .*keeps-a-file-open\.ts/ },
  "throws-in-dispose": { claim: "unload", says: /The connection was closed before/ },
  "registers-after-dispose": { claim: "unload", says: /old handles do nothing/ },
  "writes-to-stdout": { claim: "headless", says: /standard output: "A turn is over/ },
  "logs-to-the-console": { claim: "headless", says: /standard output: "Loaded/ },
  "hangs-on-confirm": { claim: "headless", says: /"confirm Go on\?" again and again/ },
  "waits-for-a-person": { claim: "headless", says: /waited for in the command \/wait/ },
  "starts-a-server-in-its-factory": { claim: "headless", says: /a server made at .*in-its-factory\.ts/ },
  "ignores-abort": { claim: "abort", says: /sleep did not end within the grace period/ },
  "acts-after-abort": { claim: "abort", says: /what it made at .*acts-after-abort\.ts.* goes on/ },
  "has-an-invalid-schema": { claim: "schema", says: /requires "name"[^]*word has the type "text"/ },
  "has-bad-names": { claim: "schema", says: /2look has a name[^]*no description[^]*\/look has no description/ },
  "knows-its-judge": { claim: "schema", says: /\/mute has no description/ },
  "refuses-its-defaults": { claim: "schema", says: /size does not take its own default/ },
  "has-a-slow-hook": { claim: "hooks", says: /message_update holds everything up/ },
  "is-asynchronous-for-nothing": { claim: "hooks", says: /make it synchronous/ },
  "changes-a-frozen-message": { claim: "hooks", says: /context failed: .*read only/ },
  "cuts-a-request": { claim: "hooks", says: /provider_call failed: .*read only/ },
  "lets-a-rejection-float": { claim: "rejections", says: /The index cannot be read/ },
  "throws-in-a-timer": { claim: "rejections", says: /The clock stopped/ },
  "remembers-that-it-was-loaded": {
    claim: "restart",
    says: /Loaded again \(load \d+\), it fails: It is loaded already/,
  },
  "grows-with-every-load": { claim: "restart", says: /also registers the command step-/ },
  "keeps-the-first-handle": { claim: "restart", says: /old handles do nothing/ },
  "takes-its-successor-down": {
    claim: "restart",
    says: /After another one of itself was unloaded, turn_start fails[^]*Replaced by itself, turn_start fails/,
  },
  "is-taken-back-once": { claim: "restart", says: /fails when it is called twice/ },
  "needs-a-host": { claim: "factory", says: /cannot be loaded without a host/ },
  "throws-a-bare-error": { claim: "factory", says: /"failed" has no code/ },
  "calls-home-in-its-factory": { claim: "factory", says: /reaches for the network/ },
};

test("every faulty extension has its claim, and every claim its faulty extensions", () => {
  const files = readdirSync(FOLDER).map((file) => basename(file, ".ts"));
  expect(Object.keys(FAULTS).sort()).toEqual(files.sort());
  expect(new Set(Object.values(FAULTS).map(({ claim }) => claim)).size).toBe(8);
});

for (const [name, { claim, says }] of Object.entries(FAULTS)) {
  test(`an extension that ${name.replaceAll("-", " ")} breaks the claim ${claim}, and no other`, async () => {
    const { default: extension } = (await import(join(FOLDER, `${name}.ts`))) as { default: Extension };
    const { claims } = await testExtension(extension, QUICK);
    const broken = claims.filter(({ error }) => error);
    expect(broken.map(({ name: each, error }) => `${each}: ${error!.message}`)).toEqual([expect.stringMatching(says)]);
    expect(broken[0]!.name).toBe(claim);
  });
}

test("an extension that does everything as it should keeps every claim", async () => {
  expect((await testExtension(sound, QUICK)).claims.flatMap(({ error }) => error?.message ?? [])).toEqual([]);
});

testExtension(sound, { ...QUICK, test });
