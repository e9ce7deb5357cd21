import { spawn } from "node:child_process";
import type { ExtensionAPI } from "@pi-agent/kernel";

/** Starts a program that outlives it. */
export default function leavesAChild(pi: ExtensionAPI): void {
  pi.on("session_start", () => {
    spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"], { stdio: "ignore" }).unref();
  });
}
