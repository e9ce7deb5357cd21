/** Makes a body that arrives in the chunks given. */
export function bodyOf(chunks: readonly (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return ReadableStream.from(chunks.map((chunk) => (typeof chunk === "string" ? encoder.encode(chunk) : chunk)));
}
