/** Brings an agent to life. Every way in passes here, and through the three phases. */
import type { Loaded, LoadOptions } from "./options.ts";
import { Phases } from "./phases.ts";

// What extensions wait for at start-up may hold nothing open: the process must not end under them.
const HOLD_MS = 60_000;

/**
 * Loads an agent. Fails with `no_cwd`, `unknown_flag`, `flag_value`, `extension_source`, `extension_refused`, with what
 * a `-e` extension failed with, and with what choosing the session failed with; nothing is left behind then.
 */
export async function load(options: LoadOptions): Promise<Loaded> {
  const phases = new Phases(options);
  const hold = setInterval(() => {}, HOLD_MS);
  const stopNoting = phases.told.noteFaults(phases.agent);
  try {
    await phases.start();
    const { agent, host, report, trust, packages } = phases;
    return { agent, host, report, trust, packages, dispose: () => phases.end() };
  } catch (thrown) {
    await phases.end();
    throw thrown;
  } finally {
    clearInterval(hold);
    await stopNoting();
  }
}
