import type { Model } from "@pi-agent/kernel";

/** The first generation that thinks by levels, signs its calls and takes media in results. */
const SIGNING_SINCE = 3;

/**
 * Tells whether a model is known to belong to Gemini 3 or a later generation. An id without a number, such as
 * `gemini-flash-latest`, stands for the newest.
 */
export function isGemini3({ id }: Model): boolean {
  return id.includes("gemini") && !isOlder(id);
}

/** Tells whether a model may want its calls signed. One that is not known is given the benefit of the doubt. */
export function mayWantSignatures({ id }: Model): boolean {
  return !isOlder(id) && !id.includes("gemma");
}

function isOlder(id: string): boolean {
  const generation = /gemini-(\d+)/.exec(id)?.[1];
  return generation !== undefined && Number(generation) < SIGNING_SINCE;
}
