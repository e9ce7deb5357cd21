/** What one extension costs, counted while it is loaded (E6). */
import type { ExtensionReport, LeakReport, Owner } from "./contract.ts";
import type { AgentError } from "./errors.ts";

export class Account implements ExtensionReport {
  readonly owner: Owner;
  state: ExtensionReport["state"] = "loaded";
  loadMs = 0;
  hookMs = 0;
  promptTokens = 0;
  errors = 0;
  slow: string[] = [];
  error?: AgentError;
  leaks?: LeakReport["leaks"];

  constructor(owner: Owner) {
    this.owner = owner;
  }
}
