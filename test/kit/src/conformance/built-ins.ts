/** What everybody's code is made of, by name. Functions of it are compared; other values, such as limits, are settings. */
const NAMES =
  "Object Function Array String Number Boolean Symbol BigInt Date RegExp Error Promise Map Set WeakMap WeakSet " +
  "ArrayBuffer Uint8Array JSON Math Reflect Intl console process URL AbortController AbortSignal EventTarget";

/** The members of the built-ins, each with its holder and the name that it is known by. */
export type BuiltIns = ReadonlyMap<object, { name: string; members: Map<PropertyKey, PropertyDescriptor> }>;

export function readBuiltIns(): BuiltIns {
  const holders = NAMES.split(" ").flatMap((name): [object, string][] => {
    const holder = (globalThis as Record<string, unknown>)[name] as { prototype?: object };
    return holder.prototype
      ? [
          [holder, name],
          [holder.prototype, `${name}.prototype`],
        ]
      : [[holder, name]];
  });
  return new Map(
    holders.map(([holder, name]) => [
      holder,
      {
        name,
        members: new Map(Reflect.ownKeys(holder).map((key) => [key, Reflect.getOwnPropertyDescriptor(holder, key)!])),
      },
    ]),
  );
}

/** Lists the members that are others than before, or new, or gone, with the way to take that back. */
export function listReplaced(before: BuiltIns): { what: string; undo: () => void }[] {
  return [...before].flatMap(([holder, { name, members }]) =>
    [...new Set([...members.keys(), ...Reflect.ownKeys(holder)])].flatMap((key) => {
      const old = members.get(key);
      const now = Reflect.getOwnPropertyDescriptor(holder, key);
      if (isSame(old, now)) return [];
      const fate = !old ? "added" : now ? "replaced" : "removed";
      const undo = () => void (old ? Reflect.defineProperty(holder, key, old) : Reflect.deleteProperty(holder, key));
      return [{ what: `${name}.${String(key)}, which it ${fate}`, undo }];
    }),
  );
}

function isSame(old: PropertyDescriptor | undefined, now: PropertyDescriptor | undefined): boolean {
  if (old?.get !== now?.get || old?.set !== now?.set) return false;
  const isCode = typeof old?.value === "function" || typeof now?.value === "function";
  return !isCode || Object.is(old?.value, now?.value);
}
