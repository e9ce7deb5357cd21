/** One map per kind: what is registered under which name, and who lost that name to whom. */
import type { Kind, Owner, Registered, Registry } from "./contract.ts";

/** A name goes to the highest rank; within a rank the first in the load order keeps it. A project never takes a name. */
const RANK: Record<Owner["scope"], number> = {
  host: 6,
  flag: 5,
  inline: 4,
  user: 3,
  package: 2,
  official: 1,
  project: 0,
  // What a child has from its parent gives way to all that it brings.
  inherited: -1,
};

export interface Collision {
  kind: Kind;
  name: string;
  winner: Owner;
  loser: Owner;
}

type Claim = Registered & { order: number };

interface Slot {
  winners: Map<string, Registered>;
  /** Every claim to a name, best first. */
  claims: Map<string, Claim[]>;
  /** The spare names that the losers of a name are reached by. */
  spares: Map<string, string[]>;
}

function isBetter(one: Claim, other: Claim): boolean {
  const ranks = RANK[one.owner.scope] - RANK[other.owner.scope];
  return ranks > 0 || (ranks === 0 && one.order < other.order);
}

export class Registries {
  private readonly slots = new Map<Kind, Slot>();
  /** Grows with every change, so that what is made from a registry can be kept until then. */
  version = 0;

  of<K extends Kind>(kind: K): ReadonlyMap<string, Registered<K>> {
    return this.slot(kind).winners as unknown as ReadonlyMap<string, Registered<K>>;
  }

  /** The same, as it is at any moment, for those who may look and not change. */
  view<K extends Kind>(kind: K): ReadonlyMap<string, Registered<K>> {
    const map = this.of(kind);
    return Object.freeze({
      get size() {
        return map.size;
      },
      get: (name: string) => map.get(name),
      has: (name: string) => map.has(name),
      keys: () => map.keys(),
      values: () => map.values(),
      entries: () => map.entries(),
      forEach: (each: (value: Registered<K>, name: string, map: ReadonlyMap<string, Registered<K>>) => void) =>
        map.forEach((value, name) => each(value, name, map)),
      [Symbol.iterator]: () => map[Symbol.iterator](),
    });
  }

  /** Adds a claim; answers its undo, and the collision if the name is disputed. */
  add<K extends Kind>(
    kind: K,
    name: string,
    { value, owner, order }: { value: Registry[K]; owner: Owner; order: number },
  ): { undo: () => void; collision?: Collision } {
    const slot = this.slot(kind);
    const claim = { name, value, owner, order } as Claim;
    const claims = slot.claims.get(name) ?? [];
    // The same extension registering a name again replaces its own claim.
    const own = claims.findIndex((each) => each.owner === owner);
    if (own >= 0) claims.splice(own, 1);
    const lower = claims.findIndex((each) => isBetter(claim, each));
    claims.splice(lower < 0 ? claims.length : lower, 0, claim);
    slot.claims.set(name, claims);
    this.settleName(kind, slot, name);
    const [winner, second] = claims;
    const loser = winner === claim ? second : claim;
    return {
      undo: () => this.remove(kind, name, claim),
      collision: loser && { kind, name, winner: winner!.owner, loser: loser.owner },
    };
  }

  private remove(kind: Kind, name: string, claim: Claim): void {
    const slot = this.slot(kind);
    const left = (slot.claims.get(name) ?? []).filter((each) => each !== claim);
    slot.claims.set(name, left);
    this.settleName(kind, slot, name);
  }

  private settleName(kind: Kind, slot: Slot, name: string): void {
    this.version++;
    const claims = slot.claims.get(name)!;
    if (claims.length === 0) {
      slot.claims.delete(name);
      slot.winners.delete(name);
    } else slot.winners.set(name, claims[0]!);
    if (kind !== "command") return;
    settleSpares(slot, name);
    const of = /^(.+):\d+$/.exec(name)?.[1];
    if (of !== undefined) settleSpares(slot, of);
  }

  private slot(kind: Kind): Slot {
    let slot = this.slots.get(kind);
    if (!slot) {
      slot = { winners: new Map(), claims: new Map(), spares: new Map() };
      this.slots.set(kind, slot);
    }
    return slot;
  }
}

/** Losing commands stay reachable as `name:2`, `name:3` …, as far as nobody claimed such a name. */
function settleSpares({ winners, claims, spares }: Slot, name: string): void {
  for (const spare of spares.get(name) ?? []) if (!claims.has(spare)) winners.delete(spare);
  const losers = claims.get(name)?.slice(1) ?? [];
  let number = 2;
  const taken = losers.map((claim) => {
    while (claims.has(`${name}:${number}`)) number++;
    const spare = `${name}:${number++}`;
    winners.set(spare, claim);
    return spare;
  });
  if (taken.length > 0) spares.set(name, taken);
  else spares.delete(name);
}
