import { expect, test } from "vitest";
import { binaryFormat, imageType } from "../src/file-kind.ts";

/** A PNG's start: signature, IHDR, then chunks by name. */
function png(...chunks: string[]): Buffer {
  const header = Buffer.from("89504e470d0a1a0a0000000d4948445200000001000000010806000000deadbeef", "hex");
  return Buffer.concat([header, ...chunks.map((name) => Buffer.from(`\0\0\0\0${name}\0\0\0\0`, "latin1"))]);
}

function bmp(planes = 1): Buffer {
  const header = Buffer.alloc(54);
  header.write("BM");
  header.writeUInt32LE(54, 10);
  header.writeUInt32LE(40, 14);
  header.writeUInt16LE(planes, 26);
  header.writeUInt16LE(24, 28);
  return header;
}

test.each([
  ["PNG", png("IDAT"), "image/png"],
  ["an animated PNG", png("acTL", "IDAT"), undefined],
  ["a PNG that is cut", png().subarray(0, 20), undefined],
  ["JPEG", Buffer.from([0xff, 0xd8, 0xff, 0xe0]), "image/jpeg"],
  ["JPEG-LS", Buffer.from([0xff, 0xd8, 0xff, 0xf7]), undefined],
  ["GIF", Buffer.from("GIF89a\0\0", "latin1"), "image/gif"],
  ["text that starts with GIF", Buffer.from("GIFs are fun"), undefined],
  ["WebP", Buffer.from("RIFF\0\0\0\0WEBPVP8 ", "latin1"), "image/webp"],
  ["another RIFF", Buffer.from("RIFF\0\0\0\0WAVEfmt ", "latin1"), undefined],
  ["BMP", bmp(), "image/bmp"],
  ["text that starts with BM", Buffer.from("BMW is a car, and this line is long enough"), undefined],
  ["BMP with a wrong header", bmp(7), undefined],
  ["nothing", Buffer.alloc(0), undefined],
])("%s", (_name, head, type) => {
  expect(imageType(head)).toBe(type);
});

test("a binary format is named where its first bytes tell it", () => {
  expect(binaryFormat(Buffer.from("%PDF-1.7"))).toBe("PDF document");
  expect(binaryFormat(Buffer.from([1, 2, 3]))).toBe("unknown format");
});
