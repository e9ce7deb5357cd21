/** Two ways to look at files: the person's own, where links are followed, and a project's, where nothing is believed. */
import {
  closeSync,
  constants,
  fstatSync,
  opendirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
} from "node:fs";
import { lookAt } from "./places.ts";

export type FileKind = "file" | "folder" | "link" | "other" | "project" | "missing";

export interface FileView {
  /** What stands at a path: only a project's view answers `link`, only the person's own `project`. */
  kindOf(path: string): FileKind;
  /** The names in a folder, in an order that no locale changes. Fails with a `Refusal`. */
  list(folder: string): string[];
  /** Fails with a `Refusal`; `maxBytes` holds for a project's files. */
  read(path: string, maxBytes?: number): Buffer;
  /** Fails with a `Refusal` when a project's scan has taken too long; work that opens nothing asks for itself. */
  assertTimeLeft(): void;
}

/** Why something is not opened; the message is a reason, worded to follow the thing's name. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

export interface ScanLimits {
  deadlineMs: number;
  entries: number;
  bytes: number;
  fileBytes: number;
}

// A project with more than this is not read further: what is left over is refused, visibly.
export const SCAN_LIMITS: ScanLimits = {
  deadlineMs: 5_000,
  entries: 20_000,
  bytes: 64 << 20,
  fileBytes: 20 << 20,
};

/** Why the person's own view does not open what lies inside the project. */
export const INSIDE = "lies inside the project";

/** Makes the view of the person's own files. What `isProjects` says belongs to the project is seen, and not opened. */
export function createOwnView(isProjects: (path: string) => boolean): FileView {
  const assertOwn = (path: string) => {
    if (isProjects(path)) throw new Refusal(INSIDE);
  };
  return {
    kindOf(path) {
      try {
        const kind = nameKind(statSync(path, { throwIfNoEntry: false }));
        return kind !== "missing" && isProjects(path) ? "project" : kind;
      } catch {
        return "missing";
      }
    },
    list: (folder) =>
      orRefuse(() => {
        assertOwn(folder);
        return readdirSync(folder).sort();
      }),
    read: (path) =>
      orRefuse(() => {
        assertOwn(path);
        if (!statSync(path).isFile()) throw new Refusal("is not a regular file");
        return readFileSync(path);
      }),
    assertTimeLeft: () => {},
  };
}

/**
 * The view of a project: no link is followed, nothing but regular files is opened, nothing waits, and there is a limit
 * to everything. What was read is kept, so that nobody has to read it a second time.
 */
export class ProjectView implements FileView {
  /** The bytes of each file that was opened, by path. */
  readonly contents = new Map<string, Buffer>();
  private readonly links = new Map<string, string>();
  private readonly limits: ScanLimits;
  private readonly endsAt: number;
  private entries = 0;
  private bytes = 0;

  constructor(limits: ScanLimits = SCAN_LIMITS) {
    this.limits = limits;
    this.endsAt = performance.now() + limits.deadlineMs;
  }

  kindOf(path: string): FileKind {
    return nameKind(lookAt(path));
  }

  list(folder: string): string[] {
    this.assertTimeLeft();
    return orRefuse(() => {
      const names: string[] = [];
      const open = opendirSync(folder);
      try {
        for (let entry = open.readSync(); entry; entry = open.readSync()) {
          this.entries++;
          if (this.entries > this.limits.entries)
            throw new Refusal(`would make the scan look at more than ${this.limits.entries} entries`);
          // Another file could be read by the name that such a one is shown by.
          if (entry.name.includes("\uFFFD")) throw new Refusal("holds a name that is no valid text");
          names.push(entry.name);
        }
      } finally {
        open.closeSync();
      }
      return names.sort();
    });
  }

  read(path: string, maxBytes = this.limits.fileBytes): Buffer {
    const known = this.contents.get(path);
    if (known) return known;
    this.assertTimeLeft();
    // What was opened is in `contents`: what would be too much is not opened.
    const sizeBytes = lookAt(path)?.size ?? 0;
    if (sizeBytes <= maxBytes && this.bytes + sizeBytes > this.limits.bytes)
      throw new Refusal(`would make the scan read more than ${toMegabytes(this.limits.bytes)}`);
    const bytes = orRefuse(() => readRegularFile(path, maxBytes));
    this.bytes += bytes.length;
    this.contents.set(path, bytes);
    return bytes;
  }

  /** Reads where a link leads, as it is written. Fails with a `Refusal`. */
  readLink(path: string): string {
    let target = this.links.get(path);
    if (target === undefined) {
      this.assertTimeLeft();
      target = orRefuse(() => readlinkSync(path));
      this.links.set(path, target);
    }
    return target;
  }

  assertTimeLeft(): void {
    if (performance.now() <= this.endsAt) return;
    throw new Refusal(`was not reached within the ${this.limits.deadlineMs / 1000} s that a scan may take`);
  }
}

/** Reads a file that is a regular one at the moment of opening; no link, pipe or device is opened, nothing waits. */
export function readRegularFile(path: string, maxBytes: number): Buffer {
  // Opening a device can act, and an oversized file is not opened either: it is looked at first, and once more when open.
  const seen = lookAt(path);
  if (!seen?.isFile()) throw new Refusal(seen?.isSymbolicLink() ? "is a link" : "is not a regular file");
  assertFits(seen.size, maxBytes);
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Refusal("is not a regular file");
    assertFits(stats.size, maxBytes);
    return readAll(file, stats.size);
  } finally {
    closeSync(file);
  }
}

function assertFits(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new Refusal(`is larger than ${toMegabytes(maxBytes)}`);
}

/** Reads `size` bytes, or what there is if the file shrank; what was added meanwhile is left. */
function readAll(file: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const count = readSync(file, bytes, length, size - length, length);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
}

function orRefuse<T>(look: () => T): T {
  try {
    return look();
  } catch (thrown) {
    if (thrown instanceof Refusal) throw thrown;
    const { code, message } = thrown as NodeJS.ErrnoException;
    throw new Refusal(code === "ELOOP" ? "is a link" : `cannot be read (${code ?? message})`, { cause: thrown });
  }
}

function nameKind(stats: ReturnType<typeof lookAt>): FileKind {
  if (!stats) return "missing";
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "folder";
  return stats.isSymbolicLink() ? "link" : "other";
}

function toMegabytes(bytes: number): string {
  return `${Math.round(bytes / (1 << 20))} MB`;
}
