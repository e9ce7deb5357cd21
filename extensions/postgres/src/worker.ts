/** The thread of the database: what it is asked it does in order, and nobody waits for it who does not ask. */
import { parentPort, workerData } from "node:worker_threads";
import { Engine } from "./engine.ts";
import type { ToWorker, WorkerSettings } from "./messages.ts";

const engine = new Engine(workerData as WorkerSettings, (message) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(message);
});
parentPort?.on("message", (message: ToWorker) => engine.handle(message));
