/** Reads the `@path` arguments: text becomes part of the prompt, images become blocks. */
import { open, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Image } from "@pi-agent/kernel";
import type { Problem } from "./problem.ts";

// Far more than any model takes in.
const MOST_TEXT_BYTES = 10_000_000;
// What tells an image.
const HEAD_BYTES = 12;

export interface FileArguments {
  /** One `file` tag per file, with its absolute path; empty text files are left out. */
  text: string;
  images: Image[];
  problem?: Problem;
}

/** Reads the files in the order typed. A file that cannot be read is the answer's `problem`. */
export async function readFileArguments(paths: readonly string[], cwd: string): Promise<FileArguments> {
  const result: FileArguments = { text: "", images: [] };
  for (const typed of paths) {
    const path = resolve(cwd, typed.replace(/^~(?=\/|$)/, homedir()));
    const bytes = await readRegular(path).catch((error: NodeJS.ErrnoException) => error);
    if (typeof bytes === "string") return { ...result, problem: describeUnreadable(typed, bytes) };
    if (bytes instanceof Error) return { ...result, problem: describeUnreadable(typed, wordReason(bytes)) };
    const mimeType = findImageType(bytes);
    if (mimeType !== undefined) {
      result.images.push({ type: "image", data: bytes.toString("base64"), mimeType });
      result.text += `<file name="${path}"></file>\n`;
    } else if (bytes.includes(0)) {
      return { ...result, problem: describeBinary(typed) };
    } else if (bytes.length > 0) {
      result.text += `<file name="${path}">\n${bytes.toString("utf8")}\n</file>\n`;
    }
  }
  return result;
}

/** Answers the bytes, or the reason why the file is not read. A pipe or a device may have no end, nor even a beginning. */
async function readRegular(path: string): Promise<Buffer | string> {
  const stats = await stat(path);
  if (stats.isDirectory()) return "it is a folder";
  if (!stats.isFile()) return "it is not a regular file";
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const isImage = findImageType(buffer.subarray(0, bytesRead)) !== undefined;
    if (stats.size > MOST_TEXT_BYTES && !isImage) return `it is larger than ${MOST_TEXT_BYTES / 1_000_000} MB`;
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** The images that models take, told by their first bytes. */
function findImageType(bytes: Buffer): string | undefined {
  const head = bytes.toString("latin1", 0, HEAD_BYTES);
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  if (head.startsWith("RIFF") && head.endsWith("WEBP")) return "image/webp";
  return undefined;
}

function wordReason(error: NodeJS.ErrnoException): string {
  const reasons: Record<string, string> = { ENOENT: "there is no such file", EACCES: "you may not read it" };
  return reasons[error.code ?? ""] ?? error.message;
}

function describeUnreadable(typed: string, why: string): Problem {
  return {
    what: `@${typed} cannot be read`,
    why,
    hint: "a prompt that starts with @ needs a blank before it",
  };
}

function describeBinary(typed: string): Problem {
  return {
    what: `@${typed} cannot be sent`,
    why: "it is neither text nor a PNG, JPEG, GIF or WebP image",
    hint: "name the file in your prompt without the @, so that tools can look at it",
  };
}
