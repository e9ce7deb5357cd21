/** What happened and why (`message`), what to do (`hint`), and a `code` that never changes its meaning. */
export class AgentError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  /** The extension that raised it. */
  owner: string | undefined;

  constructor(code: string, message: string, more: { hint?: string; cause?: unknown; owner?: string } = {}) {
    super(maskSecrets(message), more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "AgentError";
    this.code = code;
    this.hint = more.hint === undefined ? undefined : maskSecrets(more.hint);
    this.owner = more.owner;
  }
}

/** Makes an `AgentError` of anything thrown; one that is an `AgentError` already stays itself. Told by its code. */
export function toAgentError(thrown: unknown, owner?: string): AgentError {
  try {
    if (isAgentError(thrown)) {
      thrown.owner ??= owner;
      return thrown;
    }
    const message = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
    return new AgentError("extension_failed", message, { cause: thrown, owner });
  } catch {
    // What was thrown throws when it is looked at.
    return new AgentError("extension_failed", "Something was thrown that cannot be read.", { owner });
  }
}

export function isAgentError(value: unknown): value is AgentError {
  return value instanceof Error && "code" in value && "hint" in value && typeof value.code === "string";
}

// Shapes of keys that providers and hosts give out, and credentials in addresses.
const SECRETS =
  /\b(?:sk-[\w-]{16,}|AIza[\w-]{30,}|gh[pousr]_\w{30,}|xox[abprs]-[\w-]{10,}|AKIA[A-Z0-9]{16}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)|(?<=\/\/[^\s/:@]{1,100}:)[^\s/@]{1,200}(?=@)|(?<=\bBearer )[\w.~+/-]{12,}/g;

/** Replaces what looks like a key, a token or a password in an address by `***`. */
export function maskSecrets(text: string): string {
  return text.replace(SECRETS, "***");
}
