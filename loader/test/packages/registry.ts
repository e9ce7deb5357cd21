import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { packFiles } from "./tarballs.ts";

/** What goes wrong with a request whose path has this ending. */
export type Fault = "hang" | "reset" | "500" | "403" | "401" | "truncated" | "wrong" | "redirect" | "stall";

export interface Release {
  name: string;
  version: string;
  files?: Record<string, string | Buffer>;
  /** In place of one made of the files. */
  tarball?: Buffer;
  manifest?: Record<string, unknown>;
  publishedAt?: string;
  publisher?: string;
  tag?: string;
}

export interface TestRegistry {
  url: string;
  /** Paths that were asked for, with the token where one came along. */
  asked: { path: string; token: string | undefined }[];
  publish(release: Release): void;
  /** Makes every request to a path that matches go wrong; a redirect leads to the same path of `to`. */
  fail(pattern: RegExp, fault: Fault, to?: string): void;
  heal(): void;
}

/** Starts a registry on loopback that speaks npm's wire format, gone when the test has finished. */
export async function startRegistry(): Promise<TestRegistry> {
  const packages = new Map<string, { releases: Release[]; tags: Record<string, string> }>();
  const tarballs = new Map<string, Buffer>();
  const asked: TestRegistry["asked"] = [];
  let faults: { pattern: RegExp; fault: Fault; to?: string }[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    asked.push({ path, token: request.headers.authorization });
    const failing = faults.find(({ pattern }) => pattern.test(path));
    if (failing) return goWrong({ ...failing, request, response, body: tarballs.get(path) });
    const tarball = tarballs.get(path);
    if (tarball) return void response.end(tarball);
    const name = path.slice(1);
    const found = packages.get(name);
    response.setHeader("content-type", "application/json");
    if (!found) return void response.writeHead(404).end('{"error":"not found"}');
    response.end(JSON.stringify(toPackument(url, name, found)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url,
    asked,
    publish(release) {
      const { name, version, tag = "latest" } = release;
      const manifest = { name, version, ...release.manifest };
      const tarball = release.tarball ?? packFiles({ "package.json": JSON.stringify(manifest), ...release.files });
      tarballs.set(tarballPath(name, version), tarball);
      const found = packages.get(name) ?? { releases: [], tags: {} };
      found.releases = [...found.releases.filter((each) => each.version !== version), { ...release, tarball }];
      found.tags[tag] = version;
      packages.set(name, found);
    },
    fail: (pattern, fault, to) => void faults.push({ pattern, fault, to }),
    heal: () => void (faults = []),
  };
}

function toPackument(
  url: string,
  name: string,
  { releases, tags }: { releases: Release[]; tags: Record<string, string> },
) {
  const versions = releases.map(({ version, manifest, tarball = Buffer.alloc(0), publisher }) => [
    version,
    {
      name,
      version,
      ...manifest,
      ...(publisher ? { _npmUser: { name: publisher } } : {}),
      dist: {
        tarball: url + tarballPath(name, version),
        integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}`,
      },
    },
  ]);
  const times = releases.flatMap(({ version, publishedAt }) => (publishedAt ? [[version, publishedAt]] : []));
  return { name, "dist-tags": tags, versions: Object.fromEntries(versions), time: Object.fromEntries(times) };
}

function tarballPath(name: string, version: string): string {
  return `/${name}/-/${name.replace(/^@[^/]*\//, "")}-${version}.tgz`;
}

interface Failing {
  fault: Fault;
  to?: string;
  request: IncomingMessage;
  response: ServerResponse;
  body: Buffer | undefined;
}

function goWrong({ fault, to = "http://127.0.0.1:9", request, response, body = Buffer.from("{}") }: Failing): void {
  if (fault === "hang") return;
  if (fault === "reset") return void request.socket.destroy();
  if (fault === "redirect") return void response.writeHead(302, { location: `${to}${request.url}` }).end();
  if (fault === "truncated") return void response.writeHead(200).end(body.subarray(0, body.length >> 1));
  if (fault === "wrong") return void response.writeHead(200).end(packFiles({ "package.json": '{"name":"evil"}' }));
  if (fault === "stall")
    return void response.writeHead(200, { "content-length": body.length }).write(body.subarray(0, 5));
  response.writeHead(Number(fault)).end(`{"error":"${fault}"}`);
}
