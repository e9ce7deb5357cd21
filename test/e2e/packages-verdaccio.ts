import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packFiles } from "../../loader/test/packages/tarballs.ts";

/** A real registry on loopback, where `@corp` packages are for those who log in. */
export interface Verdaccio {
  url: string;
  /** Of somebody who may publish and read everything. */
  token: string;
  publish(
    manifest: { name: string; version: string; [key: string]: unknown },
    files: Record<string, string>,
  ): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts it with an empty storage; at the end of its block it is gone. */
export async function startVerdaccio(): Promise<Verdaccio> {
  const folder = await mkdtemp(join(tmpdir(), "pi-verdaccio-"));
  const everybody = { access: "$all", publish: "$authenticated" };
  const config = {
    configPath: join(folder, "config.yaml"),
    storage: join(folder, "storage"),
    auth: { htpasswd: { file: join(folder, "htpasswd"), max_users: 10 } },
    packages: { "@corp/*": { access: "$authenticated", publish: "$authenticated" }, "**": everybody },
    uplinks: {},
    // The embedded database is larger than what is taken by default.
    max_body_size: "100mb",
    web: { enable: false },
    log: { type: "stdout", level: "fatal" },
  };
  const args = [join(import.meta.dirname, "packages-verdaccio.js"), JSON.stringify(config)];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const url = line.toString("utf8").trim();
  const token = await login(url);
  return {
    url,
    token,
    publish: (manifest, files) => publish({ url, token }, manifest, files),
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function login(url: string): Promise<string> {
  const body = JSON.stringify({ name: "tester", password: "secret-password" });
  const answer = await put(`${url}/-/user/org.couchdb.user:tester`, body);
  return ((await answer.json()) as { token: string }).token;
}

async function publish(
  { url, token }: { url: string; token: string },
  manifest: { name: string; version: string },
  files: Record<string, string>,
): Promise<void> {
  const { name, version } = manifest;
  const tarball = packFiles({ "package.json": JSON.stringify(manifest), ...files });
  const file = `${name}-${version}.tgz`;
  const dist = {
    integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}`,
    shasum: createHash("sha1").update(tarball).digest("hex"),
    tarball: `${url}/${name}/-/${file}`,
  };
  const attachment = {
    content_type: "application/octet-stream",
    data: tarball.toString("base64"),
    length: tarball.length,
  };
  const body = {
    _id: name,
    name,
    "dist-tags": { latest: version },
    versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist } },
    _attachments: { [file]: attachment },
  };
  await put(`${url}/${encodeURIComponent(name)}`, JSON.stringify(body), token);
}

async function put(url: string, body: string, token?: string): Promise<Response> {
  const headers = { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) };
  const answer = await fetch(url, { method: "PUT", headers, body });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer;
}
