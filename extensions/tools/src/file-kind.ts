/** Tells an image by its content; `undefined` for anything else, whatever its name. */
export function imageType(head: Buffer): string | undefined {
  switch (head[0]) {
    case 0xff:
      // FF D8 FF, but F7 as the next marker is JPEG-LS, which nobody shows.
      return head[1] === 0xd8 && head[2] === 0xff && head[3] !== 0xf7 ? "image/jpeg" : undefined;
    case 0x89:
      return isStillPng(head) ? "image/png" : undefined;
    case 0x47:
      return /^GIF8[79]a/.test(ascii(head, 0, 6)) ? "image/gif" : undefined;
    case 0x52:
      return ascii(head, 0, 4) === "RIFF" && ascii(head, 8, 12) === "WEBP" ? "image/webp" : undefined;
    case 0x42:
      return isBitmap(head) ? "image/bmp" : undefined;
    default:
      return undefined;
  }
}

const MAGIC: readonly [string, string][] = [
  ["7f454c46", "ELF program or library"],
  ["25504446", "PDF document"],
  ["504b0304", "ZIP archive (also docx, xlsx, jar)"],
  ["1f8b", "gzip data"],
  ["28b52ffd", "zstd data"],
  ["fd377a585a00", "xz data"],
  ["425a68", "bzip2 data"],
  ["53514c69746520666f726d6174203300", "SQLite database"],
  ["cafebabe", "Java class or Mach-O program"],
  ["4d5a", "Windows program"],
  ["0061736d", "WebAssembly module"],
];

/** Names the format of a binary file as far as its first bytes tell. */
export function binaryFormat(head: Buffer): string {
  const hex = head.toString("hex", 0, 16);
  return MAGIC.find(([magic]) => hex.startsWith(magic))?.[1] ?? "unknown format";
}

// An IHDR chunk of 13 bytes with a size above 0; an acTL chunk before the image data makes it an animation.
function isStillPng(head: Buffer): boolean {
  if (head.length < 33 || head.toString("hex", 0, 8) !== "89504e470d0a1a0a") return false;
  if (head.readUInt32BE(8) !== 13 || ascii(head, 12, 16) !== "IHDR") return false;
  if (head.readUInt32BE(16) === 0 || head.readUInt32BE(20) === 0) return false;
  for (let at = 33; at + 8 <= head.length; at += 12 + head.readUInt32BE(at)) {
    const chunk = ascii(head, at + 4, at + 8);
    if (chunk === "acTL") return false;
    if (chunk === "IDAT") break;
  }
  return true;
}

// File header of 14 bytes, then an info header whose length, planes and bits per pixel are held to what exists.
function isBitmap(head: Buffer): boolean {
  if (head.length < 30 || head[1] !== 0x4d) return false;
  const headerBytes = head.readUInt32LE(14);
  const bits = head.readUInt16LE(28);
  return (
    [40, 52, 56, 108, 124].includes(headerBytes) &&
    head.readUInt32LE(10) >= 14 + headerBytes &&
    head.readUInt16LE(26) === 1 &&
    [1, 4, 8, 16, 24, 32].includes(bits)
  );
}

function ascii(bytes: Buffer, start: number, end: number): string {
  return bytes.toString("latin1", start, end);
}
