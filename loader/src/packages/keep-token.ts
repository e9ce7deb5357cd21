/**
 * Keeps the person's tokens with the registries they are for. The libraries of npm send one along when a registry
 * redirects to another port of its host, or from https to http; here it stays behind.
 */
import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";

/** What requests to registries say they are sent by. */
export const USER_AGENT = `pi-agent node/${process.version}`;

// Origins that tokens are for, and hosts that have one and whose scheme nothing says.
const origins = new Set<string>();
const hosts = new Set<string>();
let isWatching = false;

/** Watches over the requests that are made with these options, from now on. */
export function keepTokens(options: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(options)) {
    if ((key === "registry" || key.endsWith(":registry")) && typeof value === "string") origins.add(originOf(value));
    const host = /^\/\/([^/]+)\/.*:_\w+$/.exec(key)?.[1];
    if (host !== undefined) hosts.add(host.toLowerCase());
  }
  if (isWatching) return;
  isWatching = true;
  subscribe("http.client.request.created", (message) => {
    const { request } = message as { request: ClientRequest };
    // Those libraries give every header as a list.
    if (String(request.getHeader("user-agent")) !== USER_AGENT || isForTokens(request)) return;
    request.removeHeader("authorization");
    request.removeHeader("cookie");
  });
}

function isForTokens(request: ClientRequest): boolean {
  const host = String(request.getHeader("host")).toLowerCase();
  if (origins.has(originOf(`${request.protocol}//${host}`))) return true;
  return hosts.has(host) && !origins.has(`https://${host}`);
}

function originOf(address: string): string {
  return URL.parse(address)?.origin ?? "";
}
