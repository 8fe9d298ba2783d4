// `ringback deliveries` and `events`: published events, their deliveries, and all attempts of one.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { receive, type Receiver } from '../e2e/receiver.ts';
import { inState, onlyDelivery, publish, quiet, subscribe } from '../e2e/stage.ts';
import { startChild } from './ringback-process.ts';
import { startCommanded, type Commanded } from './command-stage.ts';
import { isColoured, noTerminal } from './pty.ts';

interface Page {
  items: { id: string; state: string; event: string }[];
  nextCursor: string | null;
}

/** Would colour the terminal red, ring its bell and clear it. */
const hostile = 'no \u001b[31mred\u0007\u001b[2J\r\nsecond line';

let commanded: Commanded;
let receiver: Receiver;
/** The ids of a delivered and a dead delivery. */
let good: string;
let dead: string;
let badSubscription: string;
let goodEvent: string;
before(async () => {
  commanded = await startCommanded({ RINGBACK_RETRY: '1ms' });
  receiver = await receive(({ url }) =>
    url.startsWith('/bad') ? { status: 503, headers: { 'x-why': 'full' }, body: hostile } : 200,
  );
});
after(async () => {
  await commanded[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

async function list(...words: string[]): Promise<Page> {
  return (await commanded.json(['deliveries', ...words])) as unknown as Page;
}

describe('ringback deliveries and events, on an empty service', () => {
  it('report that there is nothing, and suggest the next step', async () => {
    const none = await commanded.run(['deliveries']);
    assert.deepEqual([none.code, none.out], [0, '']);
    assert.match(none.err, /^No deliveries yet\. Subscribe first/);
    const events = await commanded.run(['events']);
    assert.match(events.err, /^No events yet\. Publish one: ringback publish/);
    assert.deepEqual(await commanded.json(['events']), { items: [], nextCursor: null });
  });
});

describe('ringback deliveries', () => {
  before(async () => {
    const { service } = commanded;
    const bad = receiver.url.replace('/hook', '/bad');
    badSubscription = (await subscribe(service, { callbackUrl: bad, event: 'order.bad' })).id;
    await subscribe(service, { callbackUrl: receiver.url, event: 'order.good' });
    const payload = '{ "message" : "x", "n": 12345678901234567890 }';
    const about = ['publish', 'order.good', payload, '--subject', 'job_17'];
    goodEvent = String((await commanded.json(about))['eventId']);
    good = await onlyDelivery(service, { eventId: goodEvent });
    const { eventId } = await publish(service, 'order.bad');
    dead = await onlyDelivery(service, { eventId });
    await inState(service, dead, 'dead');
    await quiet(service);
  });

  it('lists them on a terminal, within its width', { skip: noTerminal }, async () => {
    const wide = await commanded.onTerminal(['deliveries'], { columns: 120 });
    assert.equal(wide.code, 0);
    const [head = '', first = '', second = ''] = wide.screen;
    assert.match(head, /^ID +STATE +EVENT +SUBJECT +RESPONSE +ATTEMPTS +PUBLISHED +URL$/);
    assert.match(first, /^dlv_\w+_0 {2}dead +order\.bad +503 +2 {2}(now|\d+ \w+ ago) +http:\/\//);
    assert.match(
      second,
      /^dlv_\w+_0 {2}delivered +order\.good +job_17 +200 +1 {2}(now|\d+ \w+ ago) +http:/,
    );
    assert.ok(wide.raw.includes('\u001b[31mdead'), 'dead is red');
    for (const columns of [36, 50, 80]) {
      const { out } = await commanded.run(['deliveries'], { columns });
      // oxlint-disable-next-line no-control-regex -- colours have no width
      const plain = out.replaceAll(/\u001b\[\d+m/g, '').split('\n');
      assert.ok(
        plain.every((line) => line.length <= columns),
        out,
      );
      assert.ok(columns < 50 || /^ID +STATE/.test(plain[0] ?? ''), out);
    }
  });

  it('has every filter of the API, and prints its response with --json', async () => {
    const { json } = await commanded.service.call({ path: '/deliveries' });
    assert.deepEqual(await list(), json);
    const only = async (id: string, ...words: string[]): Promise<void> => {
      const { items } = await list(...words);
      assert.deepEqual(
        items.map((one) => one.id),
        [id],
        words.join(' '),
      );
    };
    await only(dead, '--state', 'dead');
    await only(dead, '--status', '5xx');
    await only(dead, '--error', 'status');
    await only(dead, '--error', 'exhausted');
    await only(dead, '--to', badSubscription);
    await only(good, '--event-id', goodEvent);
    await only(good, '--event', 'order.good', '--since', '1h');
    await only(good, '--subject', 'job_17');
    await only(dead, '--limit', '1');
    assert.deepEqual((await list('--subject', 'job_1')).items, []);
    assert.deepEqual((await list('--until', '1h')).items, []);
    assert.equal((await list('--all', '--event', 'order.*')).items.length, 2);
    const none = await commanded.run(['deliveries', '--state', 'cancelled']);
    assert.deepEqual([none.code, none.out], [0, '']);
    assert.match(none.err, /^No delivery matches\./);
  });

  it('writes full times and all columns to a pipe, without colours', async () => {
    const { out } = await commanded.run(['deliveries', '--state', 'dead']);
    assert.match(
      out,
      /^ID +STATE +EVENT +SUBJECT +CUSTOMER +RESPONSE +ATTEMPTS +PUBLISHED +NEXT +URL\n/,
    );
    assert.match(out, / {2}\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z {2}/);
    assert.ok(!isColoured(out));
  });

  it(
    'shows every attempt of one, with control characters escaped',
    { skip: noTerminal },
    async () => {
      const { code, text, raw } = await commanded.onTerminal(['deliveries', dead]);
      assert.equal(code, 0);
      assert.match(text, /^delivery +dlv_\w+\nstate +dead\nevent +order\.bad {2}evt_\w+\n/);
      assert.match(text, /\nAttempt 1: 503 after \d+ ms\n[^]*\nAttempt 2: 503 after \d+ ms\n/);
      assert.match(text, /\nrequest +POST http:\/\/\S+\n +webhook-id: evt_\w+\n/);
      assert.match(text, /\nresponse +x-why: full\n/);
      assert.match(
        text,
        /\nbody +no \\u\{1b\}\[31mred\\u\{7\}\\u\{1b\}\[2J\\u\{d\}\n +second line\n/,
      );
      assert.ok(text.endsWith(`\nNo further attempts. Send it again: ringback retry ${dead}\n`));
      assert.ok(!raw.includes('\u0007') && !raw.includes('\u001b[2J'));
      const { json } = await commanded.service.call({ path: `/deliveries/${dead}` });
      assert.deepEqual(await commanded.json(['deliveries', dead]), json);
      const delivered = await commanded.run(['deliveries', good]);
      assert.match(delivered.out, new RegExp(`Show the payload: ringback events ${goodEvent}\\.`));
    },
  );

  it('answers mistakes with what was expected', async () => {
    const unknown = `dlv_${'0'.repeat(26)}_0`;
    const mistakes: [string[], number, RegExp][] = [
      [
        [badSubscription],
        2,
        /^Cannot show "sub_\w+": expected a delivery, dlv_….*\n {2}ringback subscriptions sub_/,
      ],
      [[unknown], 1, /^There is no delivery "dlv_0+_0"\nIt may belong to another app/],
      [[good, dead], 2, /^Cannot show several deliveries/],
      [['--state', 'ded'], 2, /^Cannot read --state "ded": did you mean "dead"\?/],
      [['--status', '6xx'], 2, /^Cannot read --status "6xx": expected a status/],
      [['--error', 'timout'], 2, /did you mean "timeout"\?/],
      [['--since', 'yesterday'], 2, /^Cannot read --since "yesterday": expected how long ago/],
      [['--to', good], 2, /^Cannot filter by "dlv_\w+": expected a subscription/],
      [['--cursor', 'x'], 1, /cursor/],
      [[good, '--state', 'dead'], 2, /^Cannot combine --state with "dlv_/],
      [['--watch', '--limit', '3'], 2, /^Cannot combine --limit with --watch/],
    ];
    for (const [words, expected, message] of mistakes) {
      const { code, out, err } = await commanded.run(['deliveries', ...words]);
      assert.deepEqual([code, out], [expected, ''], words.join(' '));
      assert.match(err, message);
    }
  });
});

describe('ringback deliveries --watch', () => {
  it('shows changes as they arrive on a terminal, until Ctrl+C', { skip: noTerminal }, async () => {
    await using shown = commanded.startOnTerminal(['deliveries', '--watch'], { columns: 160 });
    await shown.says(/Watching deliveries\. Press Ctrl\+C to stop\./);
    const { eventId } = await publish(commanded.service, 'order.good');
    const id = await onlyDelivery(commanded.service, { eventId });
    const line = `\\n\\d\\d:\\d\\d:\\d\\d  delivered  ${id}  order\\.good  200  http`;
    await shown.says(new RegExp(line));
    shown.type('\u0003');
    assert.equal(await shown.ended, 0);
  });

  it('prints one line of JSON per matching change to a pipe', async () => {
    await subscribe(commanded.service, { callbackUrl: receiver.url, event: 'other' });
    const args = ['deliveries', '--watch', '--json', '--state', 'delivered', '--event', 'order.*'];
    await using child = startChild(args, { ...commanded.env });
    const seen = child.says(/\n/);
    // With --json nothing is printed when the stream opens, so the test publishes until the first line appears.
    while (!child.out().includes('\n')) {
      await publish(commanded.service, 'other');
      await publish(commanded.service, 'order.good');
      await quiet(commanded.service);
    }
    await seen;
    child.signal('SIGINT');
    assert.equal(await child.ended, 0);
    for (const line of child.out().trim().split('\n')) {
      const { state, event } = JSON.parse(line) as Page['items'][number];
      assert.deepEqual([state, event], ['delivered', 'order.good']);
    }
    assert.equal(child.err(), '');
  });
});

describe('ringback events', () => {
  it(
    'shows one with its payload and its deliveries, on a terminal',
    { skip: noTerminal },
    async () => {
      const { code, text } = await commanded.onTerminal(['events', goodEvent]);
      assert.equal(code, 0);
      assert.match(
        text,
        /^event +evt_\w+\nname +order\.good\nsubject +job_17\npublished +\d{4}-\S+Z \((now|\d+ \w+ ago)\)\n/,
      );
      assert.match(text, /\npayload +\{ "message" : "x", "n": 12345678901234567890 \}\n/);
      assert.match(text, new RegExp(`\\n${good} {2}delivered`));
    },
  );

  it('prints the response of the API with --json, including every digit of a payload', async () => {
    const { code, out } = await commanded.run(['events', goodEvent, '--json']);
    assert.equal(code, 0);
    const { text } = await commanded.service.call({ path: `/events/${goodEvent}` });
    assert.equal(out, `${text}\n`);
    const found = (await commanded.json(['events', '--event', 'order.*', '--limit', '1'])) as never;
    const { json } = await commanded.service.call({ path: '/events?event=order.*&limit=1' });
    assert.deepEqual(found, json);
    const said = await commanded.run(['events', '--since', '1h'], { columns: 100 });
    assert.match(said.out, /ID.* +.*EVENT.* +.*DELIVERIES.* +.*PUBLISHED/);
    const { items } = await commanded.json(['events', '--subject', 'job_17']);
    assert.deepEqual(
      (items as { id: string }[]).map(({ id }) => id),
      [goodEvent],
    );
    const none = await commanded.run(['events', '--event', 'never.seen']);
    assert.match(none.err, /^No event matches\./);
    const wrong = await commanded.run(['events', good]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /expected an event, evt_….*\n {2}ringback deliveries dlv_/);
  });
});
