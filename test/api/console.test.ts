import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readConsole } from '../../src/api/console/files.ts';
import { consoleHandlers } from '../../src/api/handlers/console.ts';
import { buildConsole } from '../../tools/build-console.ts';
import { start, type Answer, type Running } from './harness.ts';

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; " +
  "base-uri 'none'; require-trusted-types-for 'script'";

describe('the files of the console', () => {
  let service: Running;
  before(async () => {
    await buildConsole();
    service = await start();
  });
  after(async () => service[Symbol.asyncDispose]());
  const get = async (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    service.call({ path, key: null, headers });

  it('serves the same page without a key, at every page name', async () => {
    const page = await get('/console');
    assert.equal(page.status, 200);
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.match(page.text, /^<!doctype html>/);
    for (const name of ['deliveries', 'keys', 'sign-in']) {
      assert.equal((await get(`/console/${name}?state=dead`)).text, page.text, name);
    }
  });

  it('sends security headers with the page and its files', async () => {
    const page = await get('/console');
    for (const { headers } of [page, await get(assetsIn(page)[0] ?? '')]) {
      assert.equal(headers.get('content-security-policy'), policy);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
    }
  });

  it('has nothing inline, because the policy would block it', async () => {
    const { text } = await get('/console');
    assert.doesNotMatch(text, /<style|\sstyle=|\son\w+=/i);
    for (const [tag] of text.matchAll(/<script[^>]*>/g)) assert.match(tag, /\ssrc="/);
  });

  it('is small: compressed scripts and styles are under 80 KB', async () => {
    const files = readConsole(join(import.meta.dirname, '../../console/dist'), '');
    // The folder also has the files of the portal, whose size has a limit of its own.
    const own = assetsIn(await get('/console')).map((path) => path.replace(/^.*\//, ''));
    const code = [...(files?.assets ?? [])].filter(
      ([name]) => own.includes(name) && /\.(?:js|css)$/.test(name),
    );
    assert(code.length >= 2);
    const bytes = code.map(([, { gzip }]) => gzip()?.length ?? Number.POSITIVE_INFINITY);
    const all = bytes.reduce((sum, one) => sum + one, 0);
    assert(all < 80_000, `found ${all} bytes`);
  });

  it('lets browsers cache files permanently, and revalidate the page each time', async () => {
    const page = await get('/console');
    assert.equal(page.headers.get('cache-control'), 'no-cache');
    const assets = assetsIn(page);
    assert.ok(assets.length > 0);
    for (const path of assets) {
      const file = await get(path);
      assert.equal(file.status, 200, path);
      assert.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    }
  });

  it('answers 304 if the caller has the current version', async () => {
    for (const encoding of ['gzip', 'identity']) {
      const etag = (await get('/console', { 'accept-encoding': encoding })).headers.get('etag');
      const again = { 'accept-encoding': encoding, 'if-none-match': `"other", W/${etag ?? ''}` };
      const kept = await get('/console', again);
      assert.equal(kept.status, 304);
      assert.equal(kept.text, '');
      const other = await get('/console', { ...again, 'if-none-match': '"other"' });
      assert.equal(other.status, 200);
    }
  });

  it('compresses if the client accepts it', async () => {
    const [script = ''] = assetsIn(await get('/console')).filter((path) => path.endsWith('.js'));
    const codings = { 'br, gzip;q=0.5': 'gzip', identity: null, 'gzip;q=0': null };
    for (const [accepted, coding] of Object.entries(codings)) {
      const file = await get(script, { 'accept-encoding': accepted });
      assert.equal(file.headers.get('content-encoding'), coding, accepted);
      assert.equal(file.headers.get('vary'), 'Accept-Encoding');
      assert.match(file.headers.get('content-type') ?? '', /^text\/javascript/);
      assert.ok(file.text.length > 1_000);
    }
  });

  it('answers 404 for unknown pages and files', async () => {
    const paths = ['/console/unknown', '/console/assets/unknown.js', '/console/assets/%2e%2e%2fa'];
    for (const path of paths) {
      const answer = await get(path);
      assert.equal(answer.status, 404, path);
      assert.equal(answer.json['code'], 'not_found');
    }
  });

  it('says how to build it if it is missing', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'ringback-console-'));
    try {
      const handlers = consoleHandlers(readConsole(empty, ''));
      const call = { request: { header: new Map() } } as unknown;
      const answer = await handlers['getConsole']?.(call as never);
      assert.equal(answer?.status, 503);
      assert.match(String(answer?.body), /npm run console/);
    } finally {
      rmSync(empty, { recursive: true });
    }
  });
});

/** Paths of the files that the page loads. */
function assetsIn({ text }: Answer): string[] {
  return [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
}
