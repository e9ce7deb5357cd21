import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Makes an id such as providers make: a prefix and letters and digits. */
export function createId(prefix: string, length: number): string {
  return prefix + Array.from(randomBytes(length), (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

/** Makes an opaque signature: base64, as long as short real ones. */
export function createSignature(prefix: string): string {
  return prefix + randomBytes(96).toString("base64");
}
