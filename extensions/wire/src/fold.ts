import type { Message } from "@pi-agent/kernel";

/** How a conversation is gone through for a target, such as a model. */
export interface FoldSteps<S, C> {
  start(target: C): S;
  /** Takes the next message into the state. */
  add(state: S, message: Message, target: C): void;
}

export interface Folded<S> {
  /** The fold's own: to be read, not changed. */
  state: S;
  /** What the state has not taken, because it can still change: the first message that is not frozen, and all after it. */
  rest: readonly Message[];
}

interface Known<S, C> {
  target: C;
  seen: Message[];
  state: S;
}

/** Conversations that are remembered, as for agents that work side by side. Each goes with its first message, too. */
const MAX_KNOWN = 16;

/** Makes a walk through conversations that looks only at what is new in one that it has seen the beginning of. */
export function createFold<S, C>(steps: FoldSteps<S, C>): (messages: readonly Message[], target: C) => Folded<S> {
  const known = new WeakMap<Message, Known<S, C>>();
  let recent: WeakRef<Message>[] = [];

  function keep(first: Message, conversation: Known<S, C>) {
    known.set(first, conversation);
    if (recent.some((each) => each.deref() === first)) return;
    recent.push(new WeakRef(first));
    const dropped = recent.length > MAX_KNOWN ? recent[0]?.deref() : undefined;
    if (dropped) known.delete(dropped);
    recent = recent.slice(-MAX_KNOWN);
  }

  return (messages, target) => {
    const first = messages[0];
    if (first === undefined) return { state: steps.start(target), rest: [] };
    const found = known.get(first);
    const isSame = found !== undefined && found.target === target && isBeginning(found.seen, messages);
    const conversation = isSame ? found : { target, seen: [], state: steps.start(target) };
    // A step that throws would leave half a state.
    known.delete(first);
    let at = conversation.seen.length;
    // Quicker to see than whether it is frozen, and nobody makes a message the one and not the other.
    for (; at < messages.length && !Object.isExtensible(messages[at]); at++) {
      steps.add(conversation.state, messages[at]!, target);
      conversation.seen.push(messages[at]!);
    }
    if (at > 0) keep(first, conversation);
    return { state: conversation.state, rest: messages.slice(at) };
  };
}

function isBeginning(seen: readonly Message[], messages: readonly Message[]): boolean {
  if (seen.length > messages.length) return false;
  for (let at = 0; at < seen.length; at++) if (seen[at] !== messages[at]) return false;
  return true;
}
