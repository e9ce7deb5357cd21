import assert from "node:assert/strict";
import type { Model } from "@pi-agent/kernel";

/** Fails where a model of a catalogue lacks what choosing and pricing it need: an id of its own, prices, and room. */
export function assertUsableModels(models: readonly Model[]): void {
  const ids = models.map(({ id }) => id);
  assert.deepEqual(ids, [...new Set(ids)]);
  for (const { id, cost, contextWindow, maxTokens } of models) {
    assert.ok(cost.input > 0 && cost.output > cost.input && cost.cacheRead < cost.input, `the prices of ${id}`);
    assert.ok(maxTokens < contextWindow, `the room of ${id}`);
  }
}
