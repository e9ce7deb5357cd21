/** How the answers of a point that a package declared add up. */
import type { Way } from "./hook-points.ts";

type Combine = (sum: unknown, answer: unknown, event: object) => { sum: unknown; isLast?: boolean };

export const COMBINE: Record<Exclude<Way, "notify">, Combine> = {
  /** Fields replace, lists add up; the next handler finds them in its event. */
  chain(sum, answer, event) {
    const merged = merge((sum ?? {}) as Record<string, unknown>, answer as Record<string, unknown>);
    Object.assign(event, merged);
    return { sum: merged };
  },
  gate(_sum, answer) {
    const { block, cancel } = answer as { block?: boolean; cancel?: boolean };
    return { sum: answer, isLast: block === true || cancel === true };
  },
  first: (_sum, answer) => ({ sum: answer, isLast: true }),
  vote(sum, answer) {
    const before = (sum as { trusted?: string } | undefined)?.trusted;
    const { trusted, remember } = answer as { trusted?: unknown; remember?: unknown };
    if (before === "no" || (trusted !== "yes" && trusted !== "no")) return { sum };
    return { sum: { trusted, remember: remember === true } };
  },
  around: (sum) => ({ sum }),
};

function merge(sum: Record<string, unknown>, answer: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...sum };
  for (const [key, value] of Object.entries(answer)) {
    const before = merged[key];
    merged[key] = Array.isArray(before) && Array.isArray(value) ? [...before, ...(value as unknown[])] : value;
  }
  return merged;
}
