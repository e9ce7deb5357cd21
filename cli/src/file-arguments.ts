/** Reads the `@path` arguments: text becomes part of the prompt, images become blocks. */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Image } from "@pi-agent/kernel";
import type { Problem } from "./problem.ts";

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
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => error);
    if (bytes instanceof Error) return { ...result, problem: describeUnreadable(typed, bytes) };
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

/** The images that models take, told by their first bytes. */
function findImageType(bytes: Buffer): string | undefined {
  const head = bytes.toString("latin1", 0, 12);
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  if (head.startsWith("RIFF") && head.endsWith("WEBP")) return "image/webp";
  return undefined;
}

function describeUnreadable(typed: string, error: NodeJS.ErrnoException): Problem {
  const reasons: Record<string, string> = {
    ENOENT: "there is no such file",
    EACCES: "you may not read it",
    EISDIR: "it is a folder",
  };
  return {
    what: `@${typed} cannot be read`,
    why: reasons[error.code ?? ""] ?? error.message,
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
