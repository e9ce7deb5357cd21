/**
 * Puts new bytes in the place of a file.
 *
 *   real path ─► new file:       temporary file beside it ─► rename
 *             └► existing file:  temporary file, 0600 ─► its owner and mode ─► rename
 *                                └► in place, where a rename would lose something or is not allowed
 *
 * In place: a file with several hard links, an owner that cannot be given away, a directory that takes no new file,
 * a file that is a mount point. Everything is synchronous, so that nothing in this process comes in between. What other
 * processes do to the path meanwhile leads nowhere: the folder is held open, and it is looked at where it is by then.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { assertUnchanged, type FileVersion } from "./file-version.ts";
import { kindOf } from "./open-file.ts";
import { realPath } from "./paths.ts";
import { errorCode, ToolFailure } from "./result.ts";

/** The temporary file cannot be made, or cannot take the place of the old one. */
const NOT_REPLACEABLE = ["EACCES", "EPERM", "EROFS", "EBUSY", "EXDEV", "ENOTSUP", "EINVAL"];

/** What has to hold at the moment of writing. */
export interface Conditions {
  /** Only a file that is still in this state. */
  seen?: FileVersion;
  /** Says why nothing may be written to a real path. */
  refusalOf?: (realPath: string) => string | undefined;
}

/**
 * Writes a file whole or not at all, through symbolic links, with its parents; keeps an existing file's mode and owner.
 * Fails with `not_a_file`, `EISDIR`, `read_only`, `symlink_loop`, `changed_meanwhile`, `refused`, or as the system does.
 */
export function replaceFile(path: string, bytes: Buffer, conditions: Conditions = {}): void {
  const target = realPath(path);
  const assertFit = () => {
    if ("seen" in conditions) assertUnchanged(target, conditions.seen);
    assertAllowed(target, conditions);
  };
  const stats = statSync(target, { throwIfNoEntry: false });
  if (!stats) {
    assertFit();
    mkdirSync(dirname(target), { recursive: true });
    renameInto({ target, bytes, assertFit });
    return;
  }
  assertWritable(target, stats);
  if (stats.nlink > 1) {
    overwrite({ target, bytes, assertFit });
    return;
  }
  try {
    renameInto({ target, bytes, assertFit, like: stats });
  } catch (cause) {
    if (!NOT_REPLACEABLE.includes(errorCode(cause) ?? "")) throw cause;
    overwrite({ target, bytes, assertFit });
  }
}

function assertAllowed(target: string, { refusalOf }: Conditions): void {
  const refusal = refusalOf?.(target);
  if (refusal !== undefined) throw new ToolFailure("refused", refusal);
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

interface Writing {
  /** Real. */
  target: string;
  bytes: Buffer;
  /** Runs at the last moment before the old bytes are gone. */
  assertFit: () => void;
}

function renameInto({ target, bytes, assertFit, like }: Writing & { like?: Stats }): void {
  using folder = holdFolder(dirname(target));
  const temporary = join(folder.path, `.pi-${process.pid}-${Date.now().toString(36)}-${counter++}.tmp`);
  // Restrictive from the first moment, when what it replaces may be.
  const fd = openSync(temporary, "wx", like ? 0o600 : 0o666);
  try {
    try {
      writeAll(fd, bytes);
      if (like) takeAttributes(fd, like);
    } finally {
      closeSync(fd);
    }
    assertFit();
    renameSync(temporary, join(folder.path, basename(target)));
  } catch (cause) {
    unlinkSync(temporary);
    throw cause;
  }
}

/** Opens a folder by its real path, and answers a path that stays its own where the system has one. */
function holdFolder(real: string): Disposable & { path: string } {
  const fd = openFolder(real);
  if (fd === undefined) return { path: real, [Symbol.dispose]: () => {} };
  const close = () => closeSync(fd);
  try {
    assertAt(fd, real);
    const own = `/proc/self/fd/${fd}`;
    return { path: existsSync(own) ? own : real, [Symbol.dispose]: close };
  } catch (cause) {
    close();
    throw cause;
  }
}

/** A folder that may be written to and not be listed cannot be opened. */
function openFolder(real: string): number | undefined {
  try {
    return openSync(real, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0));
  } catch (cause) {
    if (errorCode(cause) === "EACCES") return undefined;
    throw cause;
  }
}

/** Fails with `changed_meanwhile` when what was opened by a real path is not what is there: a link was put in its way. */
function assertAt(fd: number, real: string): void {
  if (pathOf(fd, real) === real) return;
  throw new ToolFailure(
    "changed_meanwhile",
    `Could not write to ${real}: its folder was moved or replaced meanwhile.`,
    "Nothing was written. Look at what is there now, then try again.",
  );
}

function pathOf(fd: number, real: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    // Only Linux tells: elsewhere the path is followed once more.
    return realpathSync.native(real);
  }
}

function takeAttributes(fd: number, like: Stats): void {
  const own = fstatSync(fd);
  if (own.uid !== like.uid || own.gid !== like.gid) fchownSync(fd, like.uid, like.gid);
  fchmodSync(fd, like.mode & 0o7777);
}

/** Writes over the old bytes; when that fails half-way, puts them back. */
function overwrite({ target, bytes, assertFit }: Writing): void {
  const fd = openSync(target, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0));
  try {
    assertAt(fd, target);
    assertFit();
    const before = readFileSync(fd);
    try {
      rewrite(fd, bytes);
    } catch (cause) {
      rewrite(fd, before);
      throw cause;
    }
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
