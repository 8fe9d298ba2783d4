// docs/reference.md is generated from openapi.yaml, its links are not broken, and the service accepts each of its
// examples: a real shell parses the curl lines, and the real service answers them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { referencePage } from '../../tools/reference-page.ts';
import { start, type Running } from '../api/harness.ts';
import { readBlocks } from './code-blocks.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'reference.md'), 'utf8');

describe('referencePage', () => {
  it('equals docs/reference.md (npm run docs updates it)', async () => {
    assert.equal(page, await referencePage());
  });

  it('has a heading for each of its links, and no duplicate headings', () => {
    const headings = [...page.matchAll(/^##+ (.+)$/gm)].map(([, text = '']) => anchorOf(text));
    assert.equal(new Set(headings).size, headings.length);
    const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']) => anchor);
    assert.deepEqual(
      links.filter((anchor) => !headings.includes(anchor)),
      [],
    );
  });
});

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');
}

describe('the examples of docs/reference.md', () => {
  let service: Running;
  const ids: Record<string, string> = {};
  before(async () => {
    service = await start({ names: { 'receiver.example': ['127.0.0.1'] } });
    const post = async (path: string, body: unknown): Promise<Record<string, unknown>> =>
      (await service.call({ method: 'POST', path, body })).json;
    const callbackUrl = 'https://receiver.example/hook';
    const subscribed = await post('/subscribe', { callbackUrl });
    const event = { event: 'order.created', payload: { message: 'x' } };
    const published = await post('/events', event);
    const order = '/event-types/order.created';
    await service.call({ method: 'PUT', path: order, body: { schema: {} } });
    const replay = await post('/replays', { filter: { state: 'dead' } });
    const { json } = await service.call({ path: '/deliveries' });
    const [delivery] = Array.isArray(json['items']) ? json['items'] : [];
    Object.assign(ids, {
      subscriptions: subscribed['subscriberId'],
      events: published['eventId'],
      deliveries: Object(delivery)['id'],
      replays: replay['id'],
      keys: (await post('/keys', { name: 'to rotate', scopes: ['read'] }))['id'],
      apps: service.appId,
    });
  });
  after(async () => service[Symbol.asyncDispose]());

  /**
   * Whether the request succeeded, or is valid but cannot succeed here: there is no session or logo, the
   * delivery has not ended yet, the replay has ended, or no API answers operations.
   */
  function isRight(name: string, response: Response): boolean {
    if (/\/(retry|cancel|exchanges)$/.test(name) && response.status === 409) return true;
    return response.ok || /^\w+ \/(console|portal\/)/.test(name);
  }

  it('are accepted by the service', async () => {
    const requests = readBlocks(page).flatMap(({ text }) => requestsOf(text));
    assert(requests.length > 45);
    const endings = requests.filter(isEnding);
    for (const request of [...requests.filter((one) => !isEnding(one)), ...endings]) {
      const { method, path, headers, body } = request;
      const name = `${method} ${path}`;
      const call = new AbortController();
      const response = await fetch(service.url + path, {
        method,
        headers,
        signal: call.signal,
        ...(body === undefined ? {} : { body }),
      });
      const text = path === '/stream' ? '' : await response.text();
      call.abort();
      assert(isRight(name, response), `${name}: ${response.status} ${text}`);
    }
  });

  interface Request {
    method: string;
    path: string;
    headers: Record<string, string>;
    body: string | undefined;
  }

  /** Requests that end or delete records, so they must come last. */
  function isEnding({ method, path }: Request): boolean {
    return method === 'DELETE' || path.startsWith('/unsubscribe') || path.endsWith('/cancel');
  }

  function requestsOf(text: string): Request[] {
    const [, folder = ''] = /localhost:8080\/(\w+)/.exec(text) ?? [];
    const id = ids[folder === 'unsubscribe' ? 'subscriptions' : folder] ?? 'none';
    const mine = { MY_TITLE: 'Ringback', MY_PAGE: 'x', MY_FILE: 'x', SESSION: 'x' };
    const env = { KEY: service.key, ID: id, MY_SUBSCRIBERIDS: ids['subscriptions'], ...mine };
    const stub = String.raw`curl() { printf '%s\0' "$@"; printf '\1'; }`;
    const said = execFileSync('bash', ['--norc', '-euc', `${stub}; ${text}`], {
      env,
      encoding: 'utf8',
    });
    return said
      .split('\u0001')
      .slice(0, -1)
      .map((words) => requestFrom(words.split('\0').slice(0, -1)));
  }

  function requestFrom(words: string[]): Request {
    const request: Request = { method: 'GET', path: '', headers: {}, body: undefined };
    while (words.length > 0) {
      const word = words.shift() ?? '';
      if (word === '-X') request.method = words.shift() ?? '';
      else if (word === '-d') request.body = words.shift();
      else if (word === '-b') request.headers['cookie'] = words.shift() ?? '';
      else if (word === '-H') {
        const [, name = '', value = ''] = /^(.*?): (.*)$/.exec(words.shift() ?? '') ?? [];
        request.headers[name] = value;
      } else request.path = word.replace('http://localhost:8080', '');
    }
    return request;
  }
});
