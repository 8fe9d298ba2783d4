// Answers with a file of the console or the portal: its caching, its compression, and the headers that shield its page.
import type { Message } from '../../contract/expression/evaluate.ts';
import type { ConsoleFile } from '../console/files.ts';
import type { Reply } from '../request/call.ts';

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
