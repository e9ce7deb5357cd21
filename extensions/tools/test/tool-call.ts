import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Context, Image, Tool, ToolResult } from "@pi-agent/kernel";
import type { Static, TSchema } from "typebox";
import { onTestFinished } from "vitest";

/** What a call answered, its text apart from its images. */
export interface CallOutcome {
  text: string;
  images: Image[];
  isError: boolean;
  details: Record<string, unknown> | undefined;
}

export interface CallOptions {
  cwd: string;
  signal?: AbortSignal;
  hasUI?: boolean;
  model?: Partial<NonNullable<Context["model"]>>;
  onUpdate?: (partial: ToolResult) => void;
}

/** Makes a folder that goes with the test. */
export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pi-tools-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes a named pipe. */
export function makePipe(path: string): void {
  execFileSync("sh", ["-c", 'mkfifo "$0"', path]);
}

/** Calls a tool as the kernel does. */
export async function call<S extends TSchema>(
  tool: Tool<S>,
  args: Static<S>,
  { cwd, signal = new AbortController().signal, hasUI = false, model, onUpdate = () => {} }: CallOptions,
): Promise<CallOutcome> {
  const ctx = { cwd, hasUI, model, sessionId: "session-1" } as Context;
  const { content, isError = false, details } = await tool.execute("call_1", args, signal, onUpdate, ctx);
  const texts = content.filter((block) => block.type === "text").map(({ text }) => text);
  return {
    text: texts.join("\n"),
    images: content.filter((block) => block.type === "image"),
    isError,
    details: details as Record<string, unknown> | undefined,
  };
}

/** Runs a step without root's rights, so that permissions hold; `folder` is opened to it. */
export async function withoutRoot<T>(folder: string, step: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return step();
  chmodSync(folder, 0o777);
  process.seteuid!(NOBODY);
  try {
    return await step();
  } finally {
    process.seteuid!(0);
  }
}

const NOBODY = 65_534;
