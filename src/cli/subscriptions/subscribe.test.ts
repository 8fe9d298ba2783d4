import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { subscribe } from '../commands/subscriptions.ts';
import { readCall } from '../program/read-call.ts';
import { readFilter, readSubscribeInput, type SubscribeInput } from './subscribe.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const input = (...words: string[]): SubscribeInput =>
  readSubscribeInput(readCall(subscribe, words, {}), nowMs);
const url = 'https://x.example/hook';

describe('readSubscribeInput', () => {
  it('picks the variant of the contract by the arguments', () => {
    assert.deepEqual(input(url), { kind: 'body', callbackUrl: url, controls: {} });
    const event = { kind: 'query', callbackUrl: url, event: 'a.b', controls: {} };
    assert.deepEqual(input(url, '--event', 'a.b'), event);
    const several = { kind: 'body', callbackUrl: url, controls: { events: ['a', 'b.*'] } };
    assert.deepEqual(input(url, '--event', 'a', '--event', 'b.*'), several);
    const pattern = { kind: 'body', callbackUrl: url, controls: { events: ['a.*'] } };
    assert.deepEqual(input('--event', 'a.*', url), pattern);
    const multi = { kind: 'multi', urls: { failedUrl: url, successUrl: url }, controls: {} };
    assert.deepEqual(input('--success', url, '--failed', url), multi);
  });

  it('reads every control', () => {
    const short =
      '--ordered --rate 0.5 --concurrency 4 --timeout 5s --retry 5s,5m --signing ed25519 --expires 30d';
    const long = ['--description', 'for you', '--header', 'Authorization: Bearer abc'];
    const rest = ['--metadata', 'team=a=b', '--header', 'X-A:b', '--filter', '/n=1'];
    const { controls } = input(url, ...short.split(' '), ...long, ...rest);
    assert.deepEqual(controls, {
      description: 'for you',
      filter: { '/n': 1 },
      ordered: true,
      rateLimit: 0.5,
      concurrency: 4,
      timeout: '5s',
      retry: ['5s', '5m'],
      signing: 'ed25519',
      headers: { Authorization: 'Bearer abc', 'X-A': 'b' },
      metadata: { team: 'a=b' },
      expiresAt: '2026-03-31T12:00:00.000Z',
    });
    assert.deepEqual(input(url, '--retry', 'none').controls, { retry: [] });
  });

  it('reports what is wrong, and never repeats a header, which may be a secret', () => {
    const mistakes: [string[], RegExp][] = [
      [[], /no URL given\. Expected URL, or any of --in-progress/],
      [[url, url], /expected one URL/],
      [[url, '--failed', url], /each of those implies its event/],
      [['--failed', url, '--event', 'a'], /each of those implies its event/],
      [[url, '--rate', '0'], /--rate "0": expected attempts per second/],
      [[url, '--retry', '5'], /--retry "5": expected delays such as/],
      [[url, '--filter', 'a=b'], /--filter "a=b": expected a JSON pointer/],
      [[url, '--metadata', 'a'], /--metadata: expected a name and a value/],
      [[url, '--expires', 'soon'], /--expires "soon": expected a duration such as 12h or 30d/],
      [[url, '--expires', '99999999d'], /--expires "99999999d": expected a duration/],
      [[url, '--expires', '2026-02-31T00:00:00Z'], /expected a duration/],
      [[url, '--header', 'top secret'], /^Cannot read --header: expected a name and a value/],
      [[url, '--concurrency', '129'], /expected a number from 1 to 128/],
      [[url, '--signing', 'rsa'], /expected hmac or ed25519/],
    ];
    for (const [words, message] of mistakes) {
      assert.throws(() => input(...words), { message, exitCode: 2 });
    }
  });
});

describe('readFilter', () => {
  it('reads values as JSON, else as text, and collects several values of one place', () => {
    const rules = ['/a=1', '/b=NL', '/b=BE', '/c=true', '/d="1"', '/e=', '/f=a=b', '=x'];
    assert.deepEqual(readFilter(rules), {
      '/a': 1,
      '/b': ['NL', 'BE'],
      '/c': true,
      '/d': '1',
      '/e': '',
      '/f': 'a=b',
      '': 'x',
    });
  });
});
