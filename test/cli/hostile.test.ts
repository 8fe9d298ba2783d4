// Commands against a broken or hostile service: its output cannot control the terminal, and the work done
// before a failure is reported.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { json as answers, problem, rawService, type Behave } from '../client/raw-service.ts';
import { errorOf } from './command-stage.ts';
import { runHere, type InProcess, type InProcessOptions } from './in-process.ts';

const at = '2026-01-31T12:00:00.000Z';
const ids = {
  sub: `sub_${'1'.repeat(26)}`,
  evt: `evt_${'1'.repeat(26)}`,
  rpl: `rpl_${'1'.repeat(26)}`,
  dlv: [0, 1, 2, 3].map((place) => `dlv_${'1'.repeat(26)}_${place}`),
};
const [dlv = ''] = ids.dlv;

const runAgainst = async (
  { url }: { url: string },
  words: readonly string[],
  options: InProcessOptions = {},
): Promise<InProcess> =>
  runHere(words, { ...options, env: { RINGBACK_URL: url, RINGBACK_API_KEY: 'k'.repeat(40) } });

describe('a service with escape sequences in all its responses', () => {
  const escape = '\u001b]0;PWNED\u0007\u009b2J\u001b[8m\u202e';
  const one = {
    id: 'x',
    eventId: 'x',
    subscriberId: 'x',
    secret: 'whsec_x',
    previous: { secret: 'whsec_y', expiresAt: at },
    state: 'active',
    contract: 'x',
    operation: 'x',
    event: 'x',
    rejected: 'x',
    deliveries: 1,
    warnings: [{ field: 'x', message: 'x' }],
    callback: { position: 0, label: 'x', method: 'POST', url: 'x' },
    callbacks: [{ position: 0, label: 'x', event: 'x', events: ['x'], method: 'x', url: 'x' }],
    description: 'x',
    metadata: { x: 'x' },
    filter: { state: 'x', event: 'x', until: at },
    retry: ['x'],
    timeout: 'x',
    signing: 'x',
    headerNames: ['x'],
    ordered: true,
    health: { state: 'x', failures: 1, failingSince: at, nextAttemptAt: at },
    attemptCount: 2,
    error: 'x',
    nextAttemptAt: at,
    createdAt: at,
    endedAt: at,
    expiresAt: at,
    attempts: [
      {
        id: 'x',
        startedAt: at,
        tookMs: 1,
        error: 'x',
        message: 'x',
        warning: 'x',
        request: { method: 'x', url: 'x', headers: { x: 'x' }, body: 'x' },
        response: { status: 500, headers: { x: 'x' }, body: 'x' },
      },
    ],
    payload: { x: 'x' },
    progress: 1,
    replayed: 1,
    skipped: 1,
    matched: 1,
    isCapped: false,
    ratePerSecond: 1,
  };
  const all = { ...one, items: [one], nextCursor: null };
  const nasty = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_name, inner: unknown) =>
      typeof inner === 'string' ? `${inner}${escape}` : inner,
    );
  // oxlint-disable-next-line no-control-regex -- that is what it looks for
  const coloursAndBar = /\u001b\[((1|2|22|31|32|33|36|39)m|K)|\r/gu;
  const frame = {
    counts: {},
    pending: 1,
    deliveries: [one],
    more: 1,
    subscriptions: [],
    replays: [],
    isReset: false,
  };

  const calls: (readonly string[])[] = [
    ['publish', 'a', '{}'],
    ['publish', 'a', '{}', '--wait'],
    ['subscribe', 'http://receiver.example'],
    ['unsubscribe', ids.sub],
    ['subscriptions'],
    ['subscriptions', ids.sub],
    ...['--confirm', '--pause', '--resume', '--ping', '--secret', '--rotate-secret'].map((flag) => [
      'subscriptions',
      ids.sub,
      flag,
    ]),
    ['deliveries'],
    ['deliveries', dlv],
    ['deliveries', '--watch'],
    ['events'],
    ['events', ids.evt],
    ['retry', dlv],
    ['replay', '--yes'],
    ['replay', 'list'],
    ['replay', 'show', ids.rpl],
    ['replay', 'cancel', ids.rpl],
  ];
  for (const words of calls) {
    it(`does not control the terminal through ringback ${words.join(' ')}`, async () => {
      const frames = `event: changes\ndata: ${JSON.stringify(nasty({ at, ...frame }))}\n\n`;
      await using service = await rawService(async (response, seen) => {
        if (seen.path.startsWith('/stream')) {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          return void response.end(`${frames}event: changes\ndata: ${escape} no JSON\n\n`);
        }
        const isEmpty = seen.path.includes('state=pending');
        return answers(200, nasty(isEmpty ? { ...all, items: [] } : all))(response, seen);
      });
      for (const options of [{ columns: 100 }, {}]) {
        const said = await runAgainst(service, words, options);
        assert.notEqual(said.out, '');
        for (const text of [said.out, said.err]) {
          const bare = text.replaceAll(coloursAndBar, '');
          assert.doesNotMatch(bare, /(?!\n)[\p{Cc}\p{Cf}]/u, JSON.stringify(bare));
        }
        const asJson = await runAgainst(service, [...words, '--json'], options);
        assert.ok(!asJson.out.includes('\u001b'));
        if (options.columns !== undefined) assert.doesNotMatch(asJson.out, /(?!\n)\p{Cc}/u);
      }
    });
  }

  it('is printed unchanged in JSON', async () => {
    await using service = await rawService(answers(200, nasty(all)));
    const { out } = await runAgainst(service, ['unsubscribe', ids.sub, '--json'], { columns: 80 });
    assert.equal((JSON.parse(out) as { id: string }).id, `x${escape}`);
  });
});

describe('a service that fails during a command', () => {
  it('makes ringback retry list what was done, and what was not attempted', async () => {
    const taken = answers(202, { id: dlv });
    await using service = await rawService(taken, taken, problem(401, 'unauthorized'));
    const { code, out, err } = await runAgainst(service, ['retry', ...ids.dlv]);
    assert.equal(code, 1);
    assert.deepEqual(out.split('\n').slice(0, -1), [
      `Sent again  ${ids.dlv[0]}`,
      `Sent again  ${ids.dlv[1]} as ${dlv}`,
    ]);
    assert.match(
      err,
      /the service rejected the API key[^]*\nSent again 2 of 4\. Not attempted:\n {2}dlv_1+_3\n$/,
    );
  });

  it('is reported in the same way as JSON', async () => {
    const taken = answers(202, { id: dlv });
    await using service = await rawService(taken, taken, problem(401, 'unauthorized'));
    const answer = await runAgainst(service, ['retry', ...ids.dlv, '--json']);
    assert.equal(answer.code, 1);
    assert.equal(errorOf(answer)['code'], 'unauthorized');
    const { items } = JSON.parse(answer.out) as {
      items: { delivery: string; id: string | null; error: { code: string } | null }[];
    };
    assert.deepEqual(
      items.map(({ delivery, id, error }) => [delivery, id, error?.code ?? null]),
      [
        [ids.dlv[0], dlv, null],
        [ids.dlv[1], dlv, null],
        [ids.dlv[2], null, 'unauthorized'],
        [ids.dlv[3], null, 'not_tried'],
      ],
    );
  });

  it('is given up if its cursors form a cycle', async () => {
    const page = (nextCursor: string): Behave => answers(200, { items: [], nextCursor });
    const turns = Array.from({ length: 50 }, () => [page('a'), page('b'), page('c')]).flat();
    await using service = await rawService(...turns, answers(200, { items: [], nextCursor: null }));
    for (const words of [
      ['events', '--all'],
      ['deliveries'],
      ['subscriptions', '--all', '--json'],
    ]) {
      const { code, err } = await runAgainst(service, words);
      assert.equal(code, 1, words.join(' '));
      assert.match(
        err,
        /Cannot list everything: the service returned a cursor that was already used/,
      );
    }
    assert.ok(service.seen.length < 50, String(service.seen.length));
  });
});

describe('a service that counts', () => {
  it('makes ringback replay report in one JSON value that it cannot ask', async () => {
    await using service = await rawService(answers(200, { matched: 3, isCapped: false }));
    const answer = await runAgainst(service, ['replay', '--json']);
    assert.deepEqual([answer.code, answer.out], [2, '']);
    assert.match(
      String(errorOf(answer)['message']),
      /^3 deliveries would be[^]*Pass --yes to skip the question$/,
    );
  });
});

describe('a payload of a service', () => {
  it('is formatted only if that changes no value', async () => {
    const shown = async (payload: string): Promise<string> => {
      const event = `{"id":"x","event":"a","deliveries":0,"createdAt":"${at}","payload":${payload},`;
      await using service = await rawService((response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(`${event}"items":[],"nextCursor":null}`);
      });
      return (await runAgainst(service, ['events', ids.evt])).out;
    };
    assert.match(await shown('{"a b": "c \\" d",\t"e":[1]}'), /payload +\{\n +"a b": "c \\" d",\n/);
    assert.match(await shown('{"a": 1.0}'), /payload +\{"a": 1\.0\}\n/);
  });
});

describe('a service that answers {}', () => {
  it('still yields valid JSON for an event', async () => {
    await using service = await rawService(answers(200, {}));
    const { code, out, err } = await runAgainst(service, ['events', ids.evt, '--json']);
    JSON.parse(code === 0 ? out : err);
  });
});
