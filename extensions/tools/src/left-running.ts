import type { ProcessRoot } from "./process-tree.ts";

/** The commands of which something outlived its shell. Whoever makes one ends them. */
export class LeftRunning {
  readonly #roots = new Set<ProcessRoot>();

  add(root: ProcessRoot): void {
    this.#roots.add(root);
  }

  /** Ends what is still running. */
  async end(): Promise<void> {
    if (this.#roots.size === 0) return;
    const { endTree, findLeft } = await import("./process-tree.ts");
    const roots = [...this.#roots].filter((root) => findLeft(root).length > 0);
    this.#roots.clear();
    await Promise.all(roots.map((root) => endTree(root)));
  }
}
