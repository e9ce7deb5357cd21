/** `--list-models [words]`: every model that is known, one a line. */
import type { Host, Model } from "@pi-agent/kernel";
import { EXIT_CODES } from "../exit-codes.ts";
import { printError } from "../print-error.ts";
import type { Output } from "../stdout-guard.ts";
import { formatTable } from "../table.ts";

/** Prints the models that hold every word of `search`, those with a key first; answers the exit code. */
export function listModels(host: Host, output: Output, search: string): number {
  const words = search.toLowerCase().split(/\s+/);
  const found = (host.models?.list() ?? []).filter((model) => {
    const name = `${model.provider}/${model.id} ${model.name}`.toLowerCase();
    return words.every((word) => name.includes(word));
  });
  if (found.length === 0) {
    printError({
      what: search === "" ? "There are no models" : `No model holds "${search}" in its name`,
      why: search === "" ? "no provider is loaded" : undefined,
      hint: search === "" ? "leave out -ne, or load a provider package" : "pi --list-models shows all",
    });
    return EXIT_CODES.failed;
  }
  const rows = found
    .map((model) => ({ model, hasKey: host.models?.hasCredentials(model.provider) ?? false }))
    .sort((a, b) => Number(b.hasKey) - Number(a.hasKey));
  output.write(
    formatTable([
      ["model", "context", "output", "thinking", "images", "key"],
      ...rows.map(({ model, hasKey }) => describeModel(model, hasKey)),
    ]),
  );
  return EXIT_CODES.answered;
}

function describeModel(model: Model, hasKey: boolean): string[] {
  const name = `${model.provider}/${model.id}`;
  const sizes = [model.contextWindow, model.maxTokens].map(formatCount);
  return [name, ...sizes, ...[model.reasoning, model.input.includes("image"), hasKey].map(formatClaim)];
}

function formatCount(tokens: number): string {
  if (tokens >= 1_000_000) return `${Math.round(tokens / 100_000) / 10}M`;
  return tokens >= 1_000 ? `${Math.round(tokens / 1_000)}k` : String(tokens);
}

function formatClaim(isTrue: boolean): string {
  return isTrue ? "yes" : "no";
}
