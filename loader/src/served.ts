/**
 * What of a project's code may be evaluated in this process: the bytes that were hashed when it was looked at (T3).
 * Modules are looked up among them, and not in the folder, which may be another one by now.
 *
 *   grant ─► members of what it lets load ─┬─► an extension's own files: compiled, and run (`evaluate.ts`)
 *                                          └─► its dependencies: `resolve` and `load` hooks (`module-hooks.ts`)
 *
 * 1. A file of the project that is no member is refused, whoever asks for it, unless the decision holds for the folder
 *    whatever it becomes.
 * 2. What is taken away stays refused: who was served once is kept shut.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AgentError } from "@pi-agent/kernel";
import { type FileKind, ProjectView, Refusal, readRegularFile, SCAN_LIMITS } from "./file-view.ts";
import { type KeptByNode, keptOf } from "./kept-by-node.ts";
import { ModuleResolver, type ModuleView, type Request, type Resolved } from "./module-resolver.ts";
import { foldersUpTo, isInside, realPathOf } from "./places.ts";
import { contentOf } from "./plan.ts";
import type { TrustGrant } from "./trust.ts";

/** What a request of the project's code leads to; a stray is in the folder, and no member. */
export type Located = Exclude<Resolved, undefined> | { stray: string };

interface Members {
  files: ReadonlyMap<string, Buffer>;
  /** The targets of links, as they are written. */
  links: ReadonlyMap<string, string>;
}

const NOTHING: Members = { files: new Map(), links: new Map() };

export class ServedProject {
  readonly boundary: string;
  readonly kept: KeptByNode;
  /** The host's own code lies in this project: somebody works on it. */
  readonly holdsHost: boolean;
  private readonly agentDir: string;
  private members = NOTHING;
  private resolver: ModuleResolver;
  private isFolderBound = false;
  /** `agentDir` is the person's own, wherever it lies. */
  constructor(boundary: string, agentDir: string) {
    this.boundary = boundary;
    this.agentDir = realPathOf(agentDir);
    this.holdsHost = isInside(realPathOf(fileURLToPath(import.meta.url)), boundary);
    this.kept = keptOf(boundary);
    this.resolver = new ModuleResolver(createView(NOTHING, boundary), boundary);
  }

  /** Serves what a grant lets load, in place of what was served before; nothing without one. */
  serve(grant?: TrustGrant): void {
    this.members = grant ? membersOf(grant) : NOTHING;
    this.isFolderBound = grant?.isFolderBound ?? false;
    this.resolver = new ModuleResolver(createView(this.members, this.boundary), this.boundary);
    this.kept.renew(this.members.files);
  }

  /** Tells whether a real path is the project's. */
  owns(path: string): boolean {
    return isInside(path, this.boundary) && !isInside(path, this.agentDir);
  }

  has(path: string): boolean {
    return this.members.files.has(path);
  }

  get isEmpty(): boolean {
    return this.members.files.size === 0;
  }

  /** Tells whether a file of the project may be evaluated although it is no member; `from` asks for it. */
  admits(from?: string): boolean {
    if (this.isFolderBound) return true;
    return this.holdsHost && from !== undefined && this.owns(from) && !this.has(from);
  }

  /** Reads what is to be evaluated. Fails with `not_a_member`. */
  read(path: string): Buffer {
    const bytes = this.members.files.get(path);
    if (bytes) return bytes;
    if (!this.isFolderBound) throw notAMember(path);
    return readRegularFile(path, SCAN_LIMITS.fileBytes);
  }

  /** The bytes of a member; `undefined` for what is none. */
  bytesOf(path: string): Buffer | undefined {
    return this.members.files.get(path);
  }

  typeOf(path: string): unknown {
    return this.resolver.typeOf(path);
  }

  /** Finds a member; answers nothing where it is none. */
  find(request: Request): string | undefined {
    const found = this.resolver.resolve(request);
    return found && "path" in found ? found.path : undefined;
  }

  /** Finds what a module of the project asks for. Fails as Node does for what is not there. */
  locate(request: Request): Located {
    const found = this.resolver.resolve(request);
    if (found && !("outside" in found)) return found;
    const inFolder = this.lookInFolder(request);
    if (inFolder !== undefined) return this.isFolderBound ? { path: inFolder } : { stray: inFolder };
    if (!found) throw missing(request);
    return found;
  }

  /** A place from which nothing of the project is found. */
  get outside(): string {
    return join(dirname(this.boundary), "outside.js");
  }

  /** Finds what is there now, without opening more than package.json files. */
  private lookInFolder(request: Request): string | undefined {
    try {
      const found = new ModuleResolver(new ProjectView(), this.boundary).resolve(request);
      return found && "path" in found ? found.path : undefined;
    } catch (thrown) {
      if (thrown instanceof Refusal) return request.specifier;
      throw thrown;
    }
  }
}

function membersOf(grant: TrustGrant): Members {
  const { plan, digests } = grant;
  const files = new Map<string, Buffer>();
  const links = new Map<string, string>();
  for (const { id, grade, digest, members } of plan.items) {
    if (grade !== "executable" || digests.get(id) !== digest) continue;
    for (const [name, content] of Object.entries(members)) {
      const path = join(plan.project, name);
      const bytes = contentOf(plan, path);
      if (content.startsWith("link ")) links.set(path, content.slice(5));
      else if (bytes) files.set(path, bytes);
    }
  }
  return { files, links };
}

function createView({ files, links }: Members, boundary: string): ModuleView {
  const folders = new Set([...files.keys(), ...links.keys()].flatMap((path) => foldersUpTo(dirname(path), boundary)));
  const kindOf = (path: string): FileKind => {
    if (files.has(path)) return "file";
    if (links.has(path)) return "link";
    return folders.has(path) ? "folder" : "missing";
  };
  const read = (path: string) => files.get(path) ?? Buffer.alloc(0);
  return { kindOf, read, readLink: (path) => links.get(path) ?? "" };
}

/** Words that a file is not covered by what was decided. */
export function notAMember(path: string, by?: { specifier: string; from: string }): AgentError {
  const asks = by ? ` ${by.from} imports it as ${by.specifier}.` : "";
  return new AgentError("not_a_member", `${path} is not among the files that were approved.${asks}`, {
    hint: "Import it by a plain path, so that it is seen, or trust the folder whatever it becomes: pi trust yes --folder",
  });
}

/** What Node would say about a module that is not there. */
export function missing({ specifier, from, mode }: Request): Error {
  const error = new Error(`Cannot find module '${specifier}' imported from ${from}`);
  return Object.assign(error, { code: mode === "require" ? "MODULE_NOT_FOUND" : "ERR_MODULE_NOT_FOUND" });
}
