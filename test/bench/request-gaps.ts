import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";

export interface RequestGaps {
  /** Answers the gaps since it was last asked, in milliseconds. */
  take(): number[];
  stop(): void;
}

/** Watches this process's servers: each gap lasts from the end of a response until the next request is there whole. */
export function watchRequestGaps(): RequestGaps {
  let gaps: number[] = [];
  let finishedAt: number | undefined;
  const onStart = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    request.once("end", () => {
      if (finishedAt !== undefined) gaps.push(performance.now() - finishedAt);
    });
  };
  const onFinish = () => (finishedAt = performance.now());
  subscribe("http.server.request.start", onStart);
  subscribe("http.server.response.finish", onFinish);
  return {
    take() {
      const taken = gaps;
      gaps = [];
      finishedAt = undefined;
      return taken;
    },
    stop() {
      unsubscribe("http.server.request.start", onStart);
      unsubscribe("http.server.response.finish", onFinish);
    },
  };
}
