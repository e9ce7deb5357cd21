/** A strict server of the real wire formats, for tests of providers and of whole programs. */
export type { Chunking } from "./wire-server/delivery.ts";
export { type ModelsJson, modelsJson, WIRE_PROVIDERS } from "./wire-server/models-json.ts";
export type { FormatName } from "./wire-server/neutral-request.ts";
export type { Ending, RecordedRequest } from "./wire-server/recorded-request.ts";
export { startWireServer, type WireServer, type WireServerOptions } from "./wire-server/start-wire-server.ts";
