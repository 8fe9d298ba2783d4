// Rewrites a screenshot with a palette of at most 256 colours, at about a third of its size.
// Supports the PNGs that Chromium writes, and refuses others.
import assert from 'node:assert/strict';
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const coloursMax = 256;

export function smallPng(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png);
  const { palette, indexOf } = chooseColours(pixels);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const colour = pixels[y * width + x] ?? 0;
      rows[y * (width + 1) + 1 + x] = indexOf.get(colour) ?? 0;
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8); // 8 bits per pixel, palette.
  const colours = Buffer.from(palette.flatMap((one) => [one >> 16, (one >> 8) & 255, one & 255]));
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** Each pixel as 0xRRGGBB. */
function decode(png: Buffer): { width: number; height: number; pixels: Uint32Array } {
  assert(png.subarray(0, 8).equals(signature), 'Expected a PNG.');
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const kind = png[25];
  assert(png[24] === 8 && (kind === 2 || kind === 6) && png[28] === 0, 'Expected 8-bit colours.');
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length;) {
    const size = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + size));
    at += size + 12;
  }
  const step = kind === 6 ? 4 : 3;
  const rows = unfilter(inflateSync(Buffer.concat(parts)), {
    step,
    rowBytes: width * step,
    height,
  });
  const pixels = new Uint32Array(width * height);
  for (let at = 0; at < pixels.length; at += 1) pixels[at] = rows.readUIntBE(at * step, 3);
  return { width, height, pixels };
}

/** Undoes the five filters of the PNG standard. */
function unfilter(
  data: Buffer,
  { step, rowBytes, height }: { step: number; rowBytes: number; height: number },
): Buffer {
  const rows = Buffer.alloc(rowBytes * height);
  for (let y = 0; y < height; y += 1) {
    const from = y * (rowBytes + 1);
    const to = y * rowBytes;
    const filter = data[from] ?? 0;
    for (let x = 0; x < rowBytes; x += 1) {
      const left = x < step ? 0 : (rows[to + x - step] ?? 0);
      const up = y === 0 ? 0 : (rows[to + x - rowBytes] ?? 0);
      const corner = x < step || y === 0 ? 0 : (rows[to + x - rowBytes - step] ?? 0);
      rows[to + x] = (data[from + 1 + x] ?? 0) + guess(filter, { left, up, corner });
    }
  }
  return rows;
}

function guess(filter: number, near: { left: number; up: number; corner: number }): number {
  const { left, up, corner } = near;
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  return filter === 3 ? (left + up) >> 1 : nearest(left, up, corner);
}

function nearest(left: number, up: number, corner: number): number {
  const byLeft = Math.abs(up - corner);
  const byUp = Math.abs(left - corner);
  const byCorner = Math.abs(left + up - 2 * corner);
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}

/**
 * Takes the most frequent colour of each neighbourhood, so that rare hues stay, then the most
 * frequent of the rest; others, mostly edges of letters, become the nearest of them.
 */
function chooseColours(pixels: Uint32Array): { palette: number[]; indexOf: Map<number, number> } {
  const counts = new Map<number, number>();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const byCount = [...counts].sort(([, one], [, other]) => other - one).map(([colour]) => colour);
  const firsts = new Map<number, number>();
  for (const colour of byCount) {
    const near = colour & 0xe0e0e0;
    if (!firsts.has(near)) firsts.set(near, colour);
  }
  const palette = [...new Set([...firsts.values(), ...byCount])].slice(0, coloursMax);
  const indexOf = new Map(palette.map((colour, at) => [colour, at]));
  for (const colour of byCount) {
    if (indexOf.has(colour)) continue;
    let best = 0;
    for (let at = 1; at < palette.length; at += 1) {
      if (distance(colour, palette[at]) < distance(colour, palette[best])) best = at;
    }
    indexOf.set(colour, best);
  }
  return { palette, indexOf };
}

function distance(one: number, other = 0): number {
  const red = (one >> 16) - (other >> 16);
  const green = ((one >> 8) & 255) - ((other >> 8) & 255);
  const blue = (one & 255) - (other & 255);
  return red * red + green * green + blue * blue;
}
