/**
 * Puts new bytes in the place of a file.
 *
 *   real path ─► new file:       temporary file beside it ─► rename
 *             └► existing file:  temporary file, 0600 ─► its owner and mode ─► rename
 *                                └► in place, where a rename would lose something or is not allowed
 *
 * In place: a file with several hard links, an owner that cannot be given away, a directory that takes no new file,
 * a file that is a mount point. Everything is synchronous, so that nothing in this process comes in between.
 */
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { assertUnchanged, type FileVersion } from "./file-version.ts";
import { kindOf } from "./open-file.ts";
import { realPath } from "./paths.ts";
import { errorCode, ToolFailure } from "./result.ts";

/** The temporary file cannot be made, or cannot take the place of the old one. */
const NOT_REPLACEABLE = ["EACCES", "EPERM", "EROFS", "EBUSY", "EXDEV", "ENOTSUP", "EINVAL"];

/**
 * Writes a file whole or not at all, through symbolic links, with its parents; keeps an existing file's mode and owner.
 * Where `seen` is given, only a file that is still in that state. Fails with `not_a_file`, `EISDIR`, `read_only`,
 * `symlink_loop`, `changed_meanwhile`, or as the system does.
 */
export function replaceFile(path: string, bytes: Buffer, seen?: FileVersion): void {
  const target = realPath(path);
  const assertSeen = () => seen !== undefined && assertUnchanged(target, seen);
  const stats = statSync(target, { throwIfNoEntry: false });
  if (!stats) {
    assertSeen();
    mkdirSync(dirname(target), { recursive: true });
    renameInto({ target, bytes, assertSeen });
    return;
  }
  assertWritable(target, stats);
  if (stats.nlink > 1) {
    assertSeen();
    overwrite(target, bytes);
    return;
  }
  try {
    renameInto({ target, bytes, assertSeen, like: stats });
  } catch (cause) {
    if (!NOT_REPLACEABLE.includes(errorCode(cause) ?? "")) throw cause;
    assertSeen();
    overwrite(target, bytes);
  }
}

/** Fails unless it is a regular file that may be written; a file without any write bit is nobody's, root's neither. */
function assertWritable(path: string, stats: Stats): void {
  const kind = kindOf(stats);
  if (kind !== "file") {
    const code = stats.isDirectory() ? "EISDIR" : "not_a_file";
    throw new ToolFailure(code, `${path} is ${kind}, not a file.`, "Only regular files are written.");
  }
  if ((stats.mode & 0o222) === 0 || !isAllowed(path)) {
    throw new ToolFailure(
      "read_only",
      `${path} is read-only (EACCES).`,
      "If it is meant to be changed, make it writable first (chmod u+w in bash).",
    );
  }
}

function isAllowed(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

let counter = 0;

interface Replacing {
  target: string;
  bytes: Buffer;
  /** Runs at the last moment before the old bytes are gone. */
  assertSeen: () => unknown;
  like?: Stats;
}

function renameInto({ target, bytes, assertSeen, like }: Replacing): void {
  const temporary = join(dirname(target), `.pi-${process.pid}-${Date.now().toString(36)}-${counter++}.tmp`);
  // Restrictive from the first moment, when what it replaces may be.
  const fd = openSync(temporary, "wx", like ? 0o600 : 0o666);
  try {
    try {
      writeAll(fd, bytes);
      if (like) takeAttributes(fd, like);
    } finally {
      closeSync(fd);
    }
    assertSeen();
    renameSync(temporary, target);
  } catch (cause) {
    unlinkSync(temporary);
    throw cause;
  }
}

function takeAttributes(fd: number, like: Stats): void {
  const own = fstatSync(fd);
  if (own.uid !== like.uid || own.gid !== like.gid) fchownSync(fd, like.uid, like.gid);
  fchmodSync(fd, like.mode & 0o7777);
}

/** Writes over the old bytes; when that fails half-way, puts them back. */
function overwrite(target: string, bytes: Buffer): void {
  const before = readFileSync(target);
  const fd = openSync(target, "r+");
  try {
    rewrite(fd, bytes);
  } catch (cause) {
    rewrite(fd, before);
    throw cause;
  } finally {
    closeSync(fd);
  }
}

function rewrite(fd: number, bytes: Buffer): void {
  writeAll(fd, bytes, 0);
  ftruncateSync(fd, bytes.length);
}

function writeAll(fd: number, bytes: Buffer, start?: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, start === undefined ? null : start + done);
  }
}
