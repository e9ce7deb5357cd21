import { asText } from "../json-values.ts";
/** A Responses request. The rules on shape run first and make these types true where they are not `unknown`. */
export interface ResponsesBody {
  model: string;
  input: ResponsesItem[];
  instructions?: unknown;
  stream?: unknown;
  store?: unknown;
  include?: unknown;
  reasoning?: unknown;
  tools?: ResponsesTool[];
  max_output_tokens?: unknown;
}

/** `type` is `message` where the request leaves it out. */
export interface ResponsesItem {
  type?: unknown;
  role?: unknown;
  content?: unknown;
  id?: unknown;
  call_id?: unknown;
  name?: unknown;
  arguments?: unknown;
  output?: unknown;
  summary?: unknown;
  encrypted_content?: unknown;
}

export interface ResponsesTool {
  type?: unknown;
  name?: unknown;
  description?: unknown;
  parameters?: unknown;
  strict?: unknown;
}

export function typeOf(item: ResponsesItem): string {
  return asText(item.type ?? "message");
}
