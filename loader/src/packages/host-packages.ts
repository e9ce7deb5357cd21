/** Which packages come from the host, so that there is one copy of each. */

/** Libraries and hosts of Pi, under both of its npm scopes. */
const PI = ["pi-agent-core", "pi-ai", "pi-coding-agent", "pi-tui"];
const SCOPES = ["@earendil-works", "@mariozechner"];
const NAMES = new Set([
  ...PI.flatMap((name) => SCOPES.map((scope) => `${scope}/${name}`)),
  "@pi-agent/kernel",
  "@pi-agent/loader",
  "@pi-agent/cli",
]);
const LIBRARIES = new Set(["typebox", "@sinclair/typebox"]);

/** Tells whether a peer dependency comes from the host, and is not installed. */
export function isHostPeer(name: string): boolean {
  return name.startsWith("@pi-agent/") || NAMES.has(name) || LIBRARIES.has(name);
}

/** Tells whether a package is a host's: even as a dependency it is not installed, since a second copy would not work. */
export function isHost(name: string): boolean {
  return NAMES.has(name);
}

/** Tells whether a module is one of Pi's own, which come from its host. */
export function isHostModule(specifier: string): boolean {
  return PI.some((name) => SCOPES.some((scope) => `${specifier}/`.startsWith(`${scope}/${name}/`)));
}

/** Tells whether a package that comes along in another is to be reported: the host has its own. */
export function isLentByHost(name: string): boolean {
  return NAMES.has(name) || LIBRARIES.has(name);
}

/** Tells whether what peers on these packages is made for this program, and Pi cannot load it. */
export function isOurs(peers: Iterable<string>): boolean {
  for (const name of peers) if (name === "@pi-agent/kernel") return true;
  return false;
}
