/** Calls that answer streams, each in the name of whose code it is. */
import type { Owner } from "./contract.ts";
import { AgentError } from "./errors.ts";
import { type Entrance, entranceOf } from "./frames.ts";

type Call<E, T> = (request: E) => AsyncIterable<T>;
type Fail = (thrown: unknown) => never;

/** A stream whose code runs in its owner's name, and whose failures become what `fail` makes of them. */
class OwnedStream<T> implements AsyncIterableIterator<T> {
  private readonly resource: Entrance["resource"];
  private readonly iterator: AsyncIterator<T>;
  private readonly fail: Fail | undefined;

  constructor(resource: Entrance["resource"], stream: AsyncIterable<T>, fail: Fail | undefined) {
    this.resource = resource;
    this.iterator = resource.runInAsyncScope(() => stream[Symbol.asyncIterator]());
    this.fail = fail;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    return this.told(this.resource.runInAsyncScope(() => this.iterator.next()));
  }

  return(): Promise<IteratorResult<T>> {
    const end = () => this.iterator.return?.() ?? Promise.resolve({ done: true as const, value: undefined });
    return this.told(this.resource.runInAsyncScope(end));
  }

  private told<R>(work: Promise<R>): Promise<R> {
    return this.fail ? work.then(undefined, this.fail) : work;
  }
}

/**
 * A call in its owner's name, whose failures become what `toError` makes of them, if anything does. One that answers
 * what the call that it wraps answered is out of the way from then on.
 */
export function owned<E, T>(
  owner: Owner,
  call: Call<E, T>,
  toError?: (thrown: unknown) => Error,
): (request: E) => AsyncIterableIterator<T> {
  const fail = toError && ((thrown: unknown) => throwIt(toError(thrown)));
  return (request) => {
    const { resource } = entranceOf(owner);
    try {
      const stream: unknown = resource.runInAsyncScope(call, undefined, request);
      if (stream instanceof OwnedStream) return stream as OwnedStream<T>;
      if (!isStream(stream)) throw noStream(owner);
      return new OwnedStream(resource, stream as AsyncIterable<T>, fail);
    } catch (thrown) {
      return fail ? fail(thrown) : throwIt(thrown);
    }
  };
}

function throwIt(thrown: unknown): never {
  throw thrown;
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function noStream({ name: owner }: Owner): AgentError {
  const message = `${owner} answered a provider call with something that is no stream.`;
  return new AgentError("malformed_response", message, {
    hint: "Answer an async iterable at once: an async generator, or what next(request) answers; not a promise of one.",
    owner,
  });
}
