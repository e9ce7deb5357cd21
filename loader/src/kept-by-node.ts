/**
 * What Node keeps of a project's modules: it evaluates each once, and knows it by its address. Where one of them is to be
 * other bytes, all of them get new addresses, by a number put to them; what did not change stays as it is.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { AgentError } from "@pi-agent/kernel";
import { digestBytes } from "./plan.ts";

const MARK = "pi-agent";
const KEPT = new Map<string, KeptByNode>();

/** Finds what Node keeps of a project, for all agents of this process. */
export function keptOf(boundary: string): KeptByNode {
  let kept = KEPT.get(boundary);
  if (!kept) {
    kept = new KeptByNode();
    KEPT.set(boundary, kept);
  }
  return kept;
}

export class KeptByNode {
  /** Digests of what was evaluated since the addresses changed, by path. */
  private readonly evaluated = new Map<string, string>();
  /** Of modules at their plain addresses, which is where `require` looks. */
  private readonly plain = new Map<string, string>();
  private changes = 0;

  /** Has Node forget what is not as it is in `files`. */
  renew(files: ReadonlyMap<string, Buffer>): void {
    const { cache } = createRequire(import.meta.url);
    const isOther = ([path, digest]: [string, string]) => {
      const bytes = files.get(path);
      return bytes !== undefined && digestBytes(bytes) !== digest;
    };
    const isChanged = [...this.evaluated].some(isOther);
    for (const path of this.evaluated.keys()) if (isChanged || !files.has(path)) delete cache[path];
    if (!isChanged) return;
    this.changes++;
    this.evaluated.clear();
  }

  addressOf(path: string): string {
    const url = pathToFileURL(path);
    if (this.changes > 0) url.searchParams.set(MARK, String(this.changes));
    return url.href;
  }

  /** Takes note of what Node is about to evaluate. Fails where it would hand out what was at that address before. */
  note(path: string, bytes: Buffer, { isModule, isRequired }: { isModule: boolean; isRequired: boolean }): void {
    const digest = digestBytes(bytes);
    this.evaluated.set(path, digest);
    if (!isModule || (this.changes > 0 && !isRequired)) return;
    const first = this.plain.get(path) ?? digest;
    this.plain.set(path, first);
    if (first === digest) return;
    throw new AgentError("extension_failed", `${path} is another module than the one that was required before.`, {
      hint: "Start again: Node keeps the first one for as long as it runs.",
    });
  }

  /** Tells whether a module may still be handed out at its plain address. */
  has(path: string): boolean {
    return this.plain.has(path);
  }
}
