import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asText } from "../../src/wire-server/json-values.ts";
import { BODIES } from "./bodies.ts";
import { type Body, openWire, parseData, type WireName } from "./exchange.ts";

const RECORDINGS = join(import.meta.dirname, "../../../../../shared/recordings");
const FOLDERS: Record<WireName, { folder: string; vendor: string }> = {
  anthropic: { folder: "anthropic", vendor: "anthropic" },
  chat: { folder: "openai-chat", vendor: "openai" },
  responses: { folder: "openai-responses", vendor: "openai" },
  gemini: { folder: "gemini", vendor: "google" },
};

/** Fields that real streams have and our few recordings of the vendor's own do not show together. */
const ALSO_REAL: Record<WireName, string[]> = {
  anthropic: [],
  chat: ["choices.delta.reasoning_content"],
  responses: [],
  gemini: [],
};

/** Every path of keys in an event, with array places left out and the event's type in front. */
function listPaths(value: unknown, prefix: string): string[] {
  if (Array.isArray(value)) return value.flatMap((member) => listPaths(member, prefix));
  if (typeof value !== "object" || value === null) return [prefix];
  return Object.entries(value).flatMap(([key, member]) => {
    const isOpen = key === "args" || key === "tools";
    return isOpen ? [`${prefix}.${key}`] : listPaths(member, `${prefix}.${key}`);
  });
}

const pathsOf = (events: Body[]) =>
  new Set(events.flatMap((event) => listPaths(event, asText(event.type ?? "choices"))));
const clean = (paths: Iterable<string>) =>
  new Set([...paths].map((path) => path.replace("choices.choices", "choices")));

function readRecorded(format: WireName): Body[] {
  const { folder, vendor } = FOLDERS[format];
  const path = join(RECORDINGS, folder);
  return readdirSync(path)
    .filter((name) => name.endsWith(".response.sse"))
    .filter((name) => {
      const meta = JSON.parse(readFileSync(join(path, name.replace("response.sse", "meta.json")), "utf8"));
      return meta.vendor === vendor && meta.fidelity.startsWith("recorded");
    })
    .flatMap((name) => parseData(readFileSync(join(path, name), "utf8")));
}

test.for(Object.keys(FOLDERS) as WireName[])(
  "%s: the server invents no field that real streams do not have",
  async (format, { skip }) => {
    if (!existsSync(RECORDINGS)) skip("needs the recordings");
    const wire = await openWire(format, () => ({
      thinking: "Hm.",
      text: "Yes.",
      calls: [{ name: "read", arguments: { path: "a" }, id: "call_1" }],
    }));
    const body =
      format === "responses" ? { ...BODIES.responses, include: ["reasoning.encrypted_content"] } : BODIES[format];
    const ours = clean(pathsOf(await wire.stream(body)));
    await wire.server.close();
    const real = clean(pathsOf(readRecorded(format)));
    const invented = [...ours].filter((path) => !real.has(path) && !ALSO_REAL[format].includes(path));
    expect(invented).toEqual([]);
  },
);
