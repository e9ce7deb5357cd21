import { gzipSync } from "node:zlib";

/** An entry for a tarball of a test: a plain file unless it says otherwise. */
export interface Entry {
  path: string;
  content?: string | Buffer;
  type?: string;
  target?: string;
  mode?: number;
}

/** Writes a gzipped tar archive, whatever its entries are. */
export function packEntries(entries: readonly Entry[]): Buffer {
  return gzipSync(Buffer.concat([...entries.map(toBlocks), Buffer.alloc(1024)]));
}

/** Writes the tarball of a package. */
export function packFiles(files: Record<string, string | Buffer>): Buffer {
  return packEntries(Object.entries(files).map(([path, content]) => ({ path: `package/${path}`, content })));
}

function toBlocks({ path, content = "", type = "0", target = "", mode = 0o644 }: Entry): Buffer {
  const name = Buffer.from(path);
  if (name.length > 100) {
    const long = toBlocks({ path: "long", content: `${path}\0`, type: "L" });
    return Buffer.concat([long, toBlocks({ path: name.toString("utf8", 0, 99), content, type, target, mode })]);
  }
  const body = Buffer.from(content as string);
  const header = Buffer.alloc(512);
  name.copy(header);
  header.write(`${mode.toString(8).padStart(7, "0")}\0`, 100);
  header.write(`${body.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write("        ", 148);
  header.write(type, 156);
  header.write(target, 157);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}
