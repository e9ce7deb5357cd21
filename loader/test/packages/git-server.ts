/** Repositories over smart HTTP: git's own `http-backend` behind a server of Node on loopback. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./folders.ts";

export interface GitServer {
  /** `https://127.0.0.1:<port>`; a repository's path follows. */
  url: string;
  /** The certificate that vouches for it. */
  certificate: string;
  asked: { path: string; authorization: string | undefined }[];
  /** Accepts requests from now on and never answers them. */
  hang(): void;
}

/** Serves all repositories below a folder to whoever knows the password; `undefined` where there is no openssl. */
export async function startGitServer(root: string, login?: string): Promise<GitServer | undefined> {
  const tls = await makeCertificate();
  if (tls === undefined) return undefined;
  const asked: GitServer["asked"] = [];
  let isHanging = false;
  const wanted = login && `Basic ${Buffer.from(login).toString("base64")}`;
  const server = createServer({ key: tls.key, cert: tls.cert }, (request, response) => {
    const { authorization } = request.headers;
    asked.push({ path: request.url ?? "", authorization });
    if (isHanging) return;
    if (authorization === wanted) return runBackend(root, request, response);
    response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, certificate: tls.path, asked, hang: () => void (isHanging = true) };
}

async function makeCertificate(): Promise<{ path: string; key: Buffer; cert: Buffer } | undefined> {
  const folder = await temporaryFolder();
  const [key, path] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"];
  try {
    execFileSync("openssl", ["req", "-x509", ...curve, "-keyout", key, "-out", path, ...subject], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  return { path, key: await readFile(key), cert: await readFile(path) };
}

/** Common Gateway Interface, RFC 3875: the request as variables, the answer with its headers before an empty line. */
function runBackend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? "/", "https://host");
  const child = spawn("git", ["http-backend"], {
    stdio: ["pipe", "pipe", "inherit"],
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      // The files are another account's where tests run in a container.
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
    },
  });
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.on("close", () => {
    const all = Buffer.concat(chunks);
    const end = all.indexOf("\r\n\r\n");
    let status = 200;
    for (const line of all.toString("latin1", 0, end).split("\r\n")) {
      const [name = "", value = ""] = line.split(": ");
      if (name.toLowerCase() === "status") status = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.writeHead(status).end(all.subarray(end + 4));
  });
}
