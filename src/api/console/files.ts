// The built console and portal in memory: read at startup, compressed on first use. Only files found at
// startup are served: no name from a request reaches the file system.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, type Dirent } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { listed } from '../../core/errors/did-you-mean.ts';
import { limits } from '../../core/limits/limits.ts';
import { lazy } from '../../core/base/lazy.ts';
import type { Message } from '../../contract/expression/evaluate.ts';
import type { Reply } from '../request/call.ts';

export interface ConsoleFile {
  mediaType: string;
  bytes: Uint8Array;
  /** Undefined if compression does not make it smaller. */
  gzip: () => Uint8Array | undefined;
  /** Strong ETags must differ between the two encodings (RFC 9110). */
  etags: { plain: string; gzip: string };
}

export interface ConsoleFiles {
  page: ConsoleFile;
  /** The page of the portal, and the script that embeds it. */
  portal: ConsoleFile | undefined;
  embed: ConsoleFile | undefined;
  /** By name. */
  assets: ReadonlyMap<string, ConsoleFile>;
}

/**
 * Undefined if the console is not built. The page has its scripts below the prefix; they find the
 * prefix in their own address.
 */
export function readConsole(folder: string, prefix: string): ConsoleFiles | undefined {
  const top = new Map(filesIn(folder).map((entry) => [entry.name, entry]));
  const page = top.get('index.html');
  if (page === undefined) return undefined;
  const [portal, embed] = [top.get('portal.html'), top.get('embed.js')];
  const assets = filesIn(join(folder, 'assets'));
  if (assets.length > limits.consoleFilesMax) {
    const expected = `expected at most ${limits.consoleFilesMax}`;
    throw new Error(`Cannot serve the console: it has ${assets.length} files, ${expected}`);
  }
  return {
    page: toFile(page.name, placed(bytesOf(page), `${prefix}/console/`)),
    portal: portal && toFile(portal.name, placed(bytesOf(portal), `${prefix}/portal/`)),
    embed: embed && toFile(embed.name, bytesOf(embed)),
    assets: new Map(assets.map((entry) => [entry.name, toFile(entry.name, bytesOf(entry))])),
  };
}

/** The logo of the portal. */
export function readLogo(path: string): ConsoleFile {
  const cannot = `Cannot use RINGBACK_PORTAL_LOGO "${path}"`;
  const type = extname(path).toLowerCase();
  if (!logoTypes.includes(type)) {
    throw new Error(`${cannot}: expected a file that ends in ${listed(logoTypes)}`);
  }
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${cannot}: ${why}`, { cause: error });
  }
  if (bytes.length > limits.portalLogoBytesMax) {
    const expected = `expected at most ${limits.portalLogoBytesMax}`;
    throw new Error(`${cannot}: it has ${bytes.length} bytes, ${expected}`);
  }
  return toFile(`logo${type}`, bytes);
}

const logoTypes = ['.svg', '.png', '.jpg', '.webp'];

function filesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function bytesOf({ parentPath, name }: Dirent): Uint8Array {
  return readFileSync(join(parentPath, name));
}

/** Pages have several depths, so a relative address would lead to different places. */
function placed(page: Uint8Array, folder: string): Uint8Array {
  return Buffer.from(Buffer.from(page).toString().replaceAll('"./assets/', `"${folder}assets/`));
}

function toFile(name: string, bytes: Uint8Array): ConsoleFile {
  const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return {
    mediaType: mediaTypes[extname(name)] ?? 'application/octet-stream',
    bytes,
    gzip: lazy(() => compress(bytes)),
    etags: { plain: `"${tag}"`, gzip: `"${tag}-gzip"` },
  };
}

function compress(bytes: Uint8Array): Uint8Array | undefined {
  const gzip = gzipSync(bytes, { level: 9 });
  return gzip.length < bytes.length ? gzip : undefined;
}

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/** For files whose names change with their content. */
export const forever = 'public, max-age=31536000, immutable';

/** `frames`: the origins whose pages may show it in a frame. */
export function shieldHeaders(frames: readonly string[] = []): Record<string, string> {
  const contentSecurityPolicy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "form-action 'self'",
    `frame-ancestors ${frames.length === 0 ? "'none'" : frames.join(' ')}`,
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
  return {
    'content-security-policy': contentSecurityPolicy,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': frames.length === 0 ? 'same-origin' : 'cross-origin',
  };
}

/** With the caching that its name allows, or 304 if the client has it. */
export function fileReply(
  file: ConsoleFile,
  {
    request,
    caching,
    shield = shieldHeaders(),
  }: { request: Message; caching: string; shield?: Readonly<Record<string, string>> },
): Reply {
  const gzip = takesGzip(request.header.get('accept-encoding')) ? file.gzip() : undefined;
  const isPacked = gzip !== undefined;
  const etag = isPacked ? file.etags.gzip : file.etags.plain;
  const headers = {
    ...shield,
    'cache-control': caching,
    vary: 'Accept-Encoding',
    etag,
    ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
  };
  if (hasTag(request.header.get('if-none-match'), etag)) return { status: 304, headers };
  return { status: 200, headers, mediaType: file.mediaType, body: gzip ?? file.bytes };
}

/** `gzip;q=0` means that gzip is refused. */
function takesGzip(accepted = ''): boolean {
  return accepted.split(',').some((one) => {
    const [coding = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase());
    return coding === 'gzip' && !parameters.some((part) => /^q=0(\.0*)?$/u.test(part));
  });
}

/** Weak and strong tags compare equal here, RFC 9110, 13.1.2. */
function hasTag(given = '', etag: string): boolean {
  const tags = given.split(',').map((tag) => tag.trim().replace(/^W\//u, ''));
  return tags.includes('*') || tags.includes(etag);
}
