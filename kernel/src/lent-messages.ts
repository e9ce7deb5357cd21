/**
 * The messages of a request, lent to handlers that wrap the call: each may do to the list what it likes. A copy is made for
 * the first that looks, and only then: one for each turn would cost as much as the conversation is long.
 */
import type { ProviderRequest } from "./contract.ts";
import type { Message } from "./messages.ts";

interface Loan {
  readonly lender: readonly Message[];
  mine?: readonly Message[];
  isOver: boolean;
  /** Called before the copy is made. */
  onLook(): void;
}

const LOAN = Symbol("loan");
type Lent = ProviderRequest & { readonly [LOAN]?: Loan };

/** One accessor for all requests: one of its own would give each a shape of its own. */
const MESSAGES: PropertyDescriptor & ThisType<Required<Lent>> = {
  configurable: true,
  enumerable: true,
  get() {
    const loan = this[LOAN];
    if (loan.mine) return loan.mine;
    if (loan.isOver) return loan.lender;
    loan.onLook();
    return (loan.mine = [...loan.lender]);
  },
  set(messages: readonly Message[]) {
    this[LOAN].mine = messages;
  },
};

export function lend(
  request: Omit<ProviderRequest, "messages">,
  messages: readonly Message[],
  onLook: () => void,
): ProviderRequest {
  const loan: Loan = { lender: messages, mine: undefined, isOver: false, onLook };
  Object.defineProperty(request, LOAN, { value: loan });
  return Object.defineProperty(request, "messages", MESSAGES) as ProviderRequest;
}

/** A provider that nobody changed the list for gets the list itself. */
export function stopLending(request: Lent): void {
  const loan = request[LOAN];
  if (loan) loan.isOver = true;
}
