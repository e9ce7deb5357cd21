import type { Ui } from "@pi-agent/kernel";

/** So often the same question is asked before it is certain that it goes on for ever. */
const MOST_OF_ONE = 25;

/** The user interface of nobody: questions answer their safe default. */
export interface AbsentUi extends Ui {
  /** The question that was asked over and over. */
  readonly obstinate: Promise<string>;
}

/** Makes it. A question that is asked over and over is not answered any more. */
export function createAbsentUi(): AbsentUi {
  const counts = new Map<string, number>();
  const { promise: obstinate, resolve: tellObstinate } = Promise.withResolvers<string>();
  const answer = async <T>(question: string, safeDefault: T): Promise<T> => {
    const count = (counts.get(question) ?? 0) + 1;
    counts.set(question, count);
    if (count > MOST_OF_ONE) {
      tellObstinate(question);
      return new Promise<never>(() => {});
    }
    // Not at once: a loop that asks again must not keep everything else from going on.
    await new Promise((resolve) => setImmediate(resolve));
    return safeDefault;
  };
  return {
    obstinate,
    select: (title) => answer(`select ${title}`, undefined),
    confirm: (title) => answer(`confirm ${title}`, false),
    input: (title) => answer(`input ${title}`, undefined),
    editor: (title) => answer(`editor ${title}`, undefined),
    custom: () => answer("custom", undefined),
    notify() {},
    setStatus() {},
    setWidget() {},
    setTitle() {},
    setEditorText() {},
  };
}
