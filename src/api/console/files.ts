// The built console and portal in memory: read at startup, compressed on first use. Only files found at
// startup are served: no name from a request reaches the file system.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, type Dirent } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { listed } from '../../core/errors/did-you-mean.ts';
import { limits } from '../../core/limits/limits.ts';
import { lazy } from '../../core/base/lazy.ts';

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
