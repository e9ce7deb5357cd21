import type { ExtensionAPI } from "@pi-agent/kernel";

/** State of the module keeps it from being loaded again. */
let isLoaded = false;

export default function remembersThatItWasLoaded(pi: ExtensionAPI): void {
  if (isLoaded) throw pi.error("loaded_twice", "It is loaded already.", { hint: "Start the program again." });
  isLoaded = true;
}
