import type { IncomingHttpHeaders } from "node:http";
import type { FormatName, NeutralRequest } from "./neutral-request.ts";

/** How an exchange ended. `left`: the client went away before the answer was complete. */
export type Ending = "complete" | "refused" | "failed" | "cut" | "left";

/** A request that came in, and what became of it. */
export interface RecordedRequest {
  /** `undefined` where the path is of no format. */
  format: FormatName | undefined;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Parsed, or the text itself where it is not JSON. */
  body: unknown;
  /** Absent where the request was refused. */
  neutral?: NeutralRequest;
  refusal?: { rule: string; message: string };
  /** `undefined` while it is being answered. */
  ending: Ending | undefined;
  /** Resolves with `ending`. */
  readonly ended: Promise<Ending>;
  /** Resolves when a turn with `hangAfter` has sent all it will send. */
  readonly hanging: Promise<void>;
}

/** A record with the ways to settle what it promises. */
export interface RequestRecord {
  request: RecordedRequest;
  end(ending: Ending): void;
  hang(): void;
}

export function createRecord(
  start: Pick<RecordedRequest, "format" | "method" | "path" | "headers" | "body">,
): RequestRecord {
  const ended = Promise.withResolvers<Ending>();
  const hanging = Promise.withResolvers<void>();
  const request: RecordedRequest = {
    ...start,
    ending: undefined,
    ended: ended.promise,
    hanging: hanging.promise,
  };
  return {
    request,
    end(ending) {
      request.ending ??= ending;
      ended.resolve(request.ending);
    },
    hang: hanging.resolve,
  };
}
