/** Names of packages, as they become names of folders: the same on every platform, and never a way out. */

const PART = /^[a-z0-9~-][a-z0-9._~-]*$/;
// Names that Windows keeps for devices, and two that npm keeps.
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|^(?:node_modules|favicon\.ico)$/;
// npm's own limit.
const MAX_LENGTH = 214;

/** Says what is wrong with the name of a package, worded to follow it; `undefined` when nothing is. */
export function findNameFault(name: string): string | undefined {
  if (name === "") return "is empty";
  if (name.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`;
  if (name !== name.toLowerCase()) return "has capital letters";
  const parts = name.split("/");
  const bare = name.startsWith("@") ? [parts[0]?.slice(1) ?? "", ...parts.slice(1)] : parts;
  if (bare.length !== (name.startsWith("@") ? 2 : 1)) return "is no name, nor a scope and a name";
  if (bare.some((part) => /^\.+$/.test(part))) return "is made of dots";
  if (bare.some((part) => part.startsWith("-"))) return "begins with a dash";
  if (!bare.every((part) => PART.test(part))) return "has characters that names of packages do not have";
  if (bare.some((part) => RESERVED.test(part))) return "is kept for something else";
  return undefined;
}
