import type { SettingValues } from "../adapter.ts";

/** The part of a JSON schema that says which keys a settings file has. */
export interface SettingShape {
  type?: string | readonly string[];
  properties?: { readonly [key: string]: SettingShape };
  items?: SettingShape | object;
  enum?: readonly unknown[];
  default?: unknown;
  anyOf?: readonly object[];
}

// What waits has to wait long enough for the start to be seen.
const PATIENT_MS = 60_000;

/** Gives every key a value that would have an effect, or would lead to the stranger. */
export function fillSettings(schema: SettingShape, values: SettingValues): Record<string, unknown> {
  const filled: Record<string, unknown> = {};
  for (const [key, shape] of Object.entries(schema.properties ?? {})) {
    filled[key] = shape.properties ? fillSettings(shape, values) : fill(key, shape, values);
  }
  return filled;
}

function fill(
  key: string,
  { type, enum: choices, default: usual, anyOf }: SettingShape,
  values: SettingValues,
): unknown {
  if (choices) return choices.find((each) => each !== usual) ?? choices[0];
  if (type === "boolean") return usual !== true;
  if (type === "array") return [values.program];
  if (type === "object") return { "*": values.program };
  if (type === "number" || type === "integer" || anyOf) return /ms$/i.test(key) ? PATIENT_MS : 1;
  if (/dir|folder/i.test(key)) return values.folder;
  return /url|proxy/i.test(key) ? values.url : values.program;
}
