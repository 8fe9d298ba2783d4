// Serves the console's files. The page is the same for everyone, signed in or not: its data comes
// from the API, with the user's own credentials.
import type { Message } from '../../contract/expression/expression-input.ts';
import { Problem } from '../../core/errors/problem.ts';
import type { Handlers, Reply } from '../request/call.ts';
import type { ConsoleFile, ConsoleFiles } from '../console/files.ts';
import * as fields from '../request/fields.ts';

/** `files` is undefined if the console was not built. */
export function consoleHandlers(files: ConsoleFiles | undefined): Handlers {
  const page = (request: Message): Reply =>
    files === undefined ? notBuilt : answer(files.page, { request, caching: 'no-cache' });
  return {
    getConsole: async ({ request }) => page(request),
    getConsolePage: async ({ request }) => {
      const name = fields.pathText(request, 'page');
      if (!pages.includes(name)) throw noPage(name);
      return page(request);
    },
    getConsoleFile: async ({ request }) => {
      const name = fields.pathText(request, 'file');
      const file = files?.assets.get(name);
      if (file === undefined) throw new Problem('not_found', `The console has no file "${name}"`);
      // File names change with their content.
      return answer(file, { request, caching: 'public, max-age=31536000, immutable' });
    },
  };
}

/** Below `/console`; the overview is `/console` itself. */
const pages: readonly string[] = [
  'deliveries',
  'subscriptions',
  'events',
  'replays',
  'keys',
  'contract',
  'sign-in',
];

function noPage(name: string): Problem {
  const expected = pages.join(', ');
  return new Problem('not_found', `The console has no page "${name}", expected ${expected}`);
}

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const shieldHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const notBuilt: Reply = {
  status: 503,
  headers: { ...shieldHeaders, 'retry-after': '60' },
  mediaType: 'text/plain',
  body: 'The console is not built. Run `npm run console`, then restart the service.\n',
};

function answer(
  file: ConsoleFile,
  { request, caching }: { request: Message; caching: string },
): Reply {
  const gzip = takesGzip(request.header.get('accept-encoding')) ? file.gzip() : undefined;
  const isPacked = gzip !== undefined;
  const etag = isPacked ? file.etags.gzip : file.etags.plain;
  const headers = {
    ...shieldHeaders,
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
