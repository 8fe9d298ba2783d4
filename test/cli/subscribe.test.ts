// `ringback subscribe`, `subscriptions` and `unsubscribe`: a subscription from its creation to its end.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { receive, type Receiver } from '../e2e/receiver.ts';
import { get } from '../e2e/stage.ts';
import { subjectStore } from '../subject-store.ts';
import { startCommanded, type Commanded } from './command-stage.ts';
import { isColoured, noTerminal } from './pty.ts';

interface Item {
  id: string;
  state: string;
  callbacks: { events: string[]; url: string }[];
}

/** The service accepts this; a terminal would write right to left after it. */
const hostile = 'Orders \u{202e}✓';

const opened = subjectStore();
let commanded: Commanded;
let receiver: Receiver;
before(async () => {
  commanded = await startCommanded({}, { openStore: opened.openStore });
  receiver = await receive();
});
after(async () => {
  await commanded[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

async function subscribe(...words: string[]): Promise<string> {
  const answer = await commanded.json(['subscribe', ...words]);
  assert.deepEqual(Object.keys(answer).toSorted(), ['secret', 'subscriberId']);
  return String(answer['subscriberId']);
}

async function read(id: string): Promise<Record<string, unknown>> {
  return get(commanded.service, `/subscriptions/${id}`);
}

describe('ringback subscriptions', () => {
  it('reports that there are none, and how to create one', async () => {
    const { code, out, err } = await commanded.run(['subscriptions']);
    assert.deepEqual([code, out], [0, '']);
    assert.match(err, /^No subscriptions yet\. Create one: ringback subscribe http/);
    const none = await commanded.json(['subscriptions']);
    assert.deepEqual(none, { items: [], nextCursor: null });
  });
});

describe('ringback subscribe', () => {
  it('shows id, secret and the next steps on a terminal', { skip: noTerminal }, async () => {
    const { code, text, raw } = await commanded.onTerminal(['subscribe', receiver.url]);
    assert.equal(code, 0);
    const [, id = ''] = /subscriber id {2}(sub_\w{26})\n/.exec(text) ?? [];
    const { secret } = await get<{ secret: string }>(
      commanded.service,
      `/subscriptions/${id}/secret`,
    );
    assert.ok(text.startsWith('Subscribed to every event.\n'), text);
    assert.ok(text.includes(`secret         ${secret}\n`));
    for (const next of [
      `subscriptions ${id} --ping`,
      `deliveries --to ${id}`,
      `unsubscribe ${id}`,
    ]) {
      assert.ok(text.includes(`ringback ${next}`), next);
    }
    assert.ok(isColoured(raw));
  });

  it('subscribes in each variant, with the given settings', async () => {
    const one = await read(await subscribe(receiver.url, '--event', 'order.created'));
    const [callback] = one['callbacks'] as Item['callbacks'];
    assert.deepEqual(callback?.events, ['order.created']);
    assert.equal(callback?.url, `${receiver.url}?event=order.created`);
    const words = ['--event', 'order.*', '--event', 'paid', '--filter', '/n=1', '--ordered'];
    const more = ['--rate', '5', '--header', 'X-Team: a', '--description', hostile];
    const chosen = await read(await subscribe(receiver.url, ...words, ...more));
    assert.deepEqual((chosen['callbacks'] as Item['callbacks'])[0]?.events, ['order.*', 'paid']);
    const { filter, ordered, rateLimit, headerNames, description } = chosen;
    assert.deepEqual(
      { filter, ordered, rateLimit, headerNames, description },
      {
        filter: { '/n': [1] },
        ordered: true,
        rateLimit: 5,
        headerNames: ['X-Team'],
        description: hostile,
      },
    );
    const multi = await read(await subscribe('--failed', receiver.url, '--success', receiver.url));
    const listed = await commanded.run(['subscriptions', '--event', 'failed', '--limit', '1']);
    assert.match(
      listed.out,
      new RegExp(`${String(multi['id'])}  active +failed, success  http\\S+ \\+1 `),
    );
  });

  it('subscribes once for one idempotency key', async () => {
    const words = [receiver.url, '--idempotency-key', 'mine', '--event', 'once'];
    assert.equal(await subscribe(...words), await subscribe(...words));
  });

  it('explains why a URL is refused', async () => {
    const { code, out, err } = await commanded.run(['subscribe', 'ftp://x.example/']);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /ftp:\/\/x\.example\/.*expected http or https/);
    const none = await commanded.run(['subscribe']);
    assert.equal(none.code, 2);
    assert.match(none.err, /^Cannot subscribe: no URL given/);
  });
});

describe('ringback subscriptions, with some', () => {
  it('lists them on a terminal, important columns first', { skip: noTerminal }, async () => {
    const wide = await commanded.onTerminal(['subscriptions'], { columns: 140 });
    assert.equal(wide.code, 0);
    assert.match(wide.screen[0] ?? '', /^ID +STATE +EVENTS +URL +CREATED +DESCRIPTION$/);
    assert.match(
      wide.text,
      /\nsub_\w{26} {2}active {2}order\.\*, paid +http:\/\/\S+ +(now|\d+ \w+ ago) +Orders \\u\{202e\}✓\n/,
    );
    assert.ok(isColoured(wide.raw));
    const { out } = await commanded.run(['subscriptions'], { columns: 44 });
    assert.match(out, /^\S*ID\S* +\S*STATE\S*\n/);
  });

  it('filters, limits, and continues at a cursor; --json prints the response of the API', async () => {
    const list = async (
      ...words: string[]
    ): Promise<{ items: Item[]; nextCursor: string | null }> =>
      (await commanded.json(['subscriptions', ...words])) as never;
    const all = await list();
    const { json } = await commanded.service.call({ path: '/subscriptions' });
    assert.deepEqual(all, json);
    const ids = all.items.map(({ id }) => id);
    assert.equal(ids.length, 5);
    const first = await list('--limit', '2');
    assert.equal(first.items.length, 2);
    const second = await list('--limit', '2', '--cursor', first.nextCursor ?? '');
    const third = await list('--all', '--cursor', second.nextCursor ?? '');
    const walked = [...first.items, ...second.items, ...third.items].map(({ id }) => id);
    assert.deepEqual(walked, ids);
    assert.equal(third.nextCursor, null);
    const failed = await list('--event', 'failed', '--target', '127.0.0.1');
    assert.ok(failed.items.length >= 1 && failed.items.length < 5);
    const none = await commanded.run(['subscriptions', '--state', 'disabled']);
    assert.match(none.err, /^No subscription matches\./);
    const some = await commanded.run(['subscriptions', '--limit', '2']);
    assert.match(some.err, /^More results exist: use --all/);
  });

  it('pauses, resumes and pings one, and shows and rotates its secret', async () => {
    const id = await subscribe(receiver.url, '--event', 'acted.on', '--retry', 'none');
    const act = async (...words: string[]): Promise<string> => {
      const { code, out, err } = await commanded.run(['subscriptions', id, ...words]);
      assert.deepEqual([code, err], [0, '']);
      return out;
    };
    assert.match(
      await act(),
      /^subscription +sub_\w+\nstate +active\n[^]*retry +none \(a single attempt/,
    );
    assert.match(await act('--pause'), /^Paused sub_\w+\. New deliveries stay pending/);
    assert.equal((await commanded.json(['subscriptions', id]))['state'], 'paused');
    assert.match(await act('--resume'), /^Resumed sub_/);
    const before_ = receiver.requests.length;
    assert.match(
      await act('--ping'),
      /^Sent ringback\.ping as evt_\w+\. Follow it: ringback deliv/,
    );
    await receiver.waitFor(before_ + 1);
    const secret = (await act('--secret')).trim();
    assert.match(secret, /^whsec_\S+$/);
    assert.deepEqual(await commanded.json(['subscriptions', id, '--secret']), { secret });
    const both = (await act('--rotate-secret')).split('\n');
    assert.ok(
      both[0] !== secret && both[1]?.startsWith(`${secret}  (previous secret, valid until`),
    );
    const alone = await commanded.json(['subscriptions', id, '--rotate-secret', '--overlap', '0s']);
    assert.deepEqual(Object.keys(alone), ['secret']);
  });

  it('finds one by its subject, confirms it, and shows why it ended', async () => {
    Object.assign(opened.adding, { subject: 'job_17', confirmByMs: Date.now() + 60_000 });
    const id = await subscribe(receiver.url, '--event', 'job.done');
    Object.assign(opened.adding, { subject: undefined, confirmByMs: undefined });
    const list = ['subscriptions', '--subject', 'job_17'];
    const listed = await commanded.run([...list, '--state', 'unconfirmed'], { columns: 140 });
    assert.match(listed.out, /STATE.+SUBJECT[^]+unconfirmed.+job_17/);
    assert.equal((await commanded.run(['subscriptions', '--subject', 'job'])).out, '');
    const show = async (...words: string[]): Promise<string> =>
      (await commanded.run(['subscriptions', id, ...words])).out;
    assert.match(
      await show(),
      /^subscription .+\nstate +unconfirmed\nconfirm by .+\nsubject +job_17\n/,
    );
    assert.equal(await show('--confirm'), `Confirmed ${id}. It is active.\n`);
    assert.equal((await commanded.json(['subscriptions', id, '--confirm']))['state'], 'active');
    await commanded.run(['unsubscribe', id]);
    assert.match(await show(), /\nended .+\nreason +unsubscribed\n/);
    const { code, err } = await commanded.run(['subscriptions', id, '--confirm']);
    assert.equal(code, 1);
    assert.match(err, /^Cannot confirm sub_\w+: it has ended/);
  });

  it('belongs to a customer, by whom everything is listed and sent again', async () => {
    const event = ['--event', 'customer.event'];
    const id = await subscribe(receiver.url, ...event, '--customer', 'cus_1');
    await subscribe(receiver.url, ...event, '--customer', 'cus_2');
    await subscribe(receiver.url, ...event);
    const of = ['--customer', 'cus_1'];
    const listed = await commanded.run(['subscriptions', ...of], { columns: 140 });
    assert.match(listed.out, /CUSTOMER.*\nsub_.+ cus_1 .*\n$/);
    assert.equal(listed.out.split('sub_').length, 2);
    const shown = await commanded.run(['subscriptions', id]);
    assert.match(shown.out, /\ncustomer +cus_1\n/);
    const publish = ['publish', 'customer.event', '--message', 'x', '--wait'];
    const { eventId } = await commanded.json([...publish, ...of]);
    await commanded.json(publish);
    const events = await commanded.json(['events', ...of]);
    assert.partialDeepStrictEqual(events['items'], [{ id: eventId, customer: 'cus_1' }]);
    const { items } = await commanded.json(['deliveries', ...of]);
    const reached = (items as { subscriberId: string }[]).map(({ subscriberId }) => subscriberId);
    assert.deepEqual(reached, [id, id]);
    const again = ['replay', '--state', 'delivered', '--event', 'customer.event', ...of];
    const { out } = await commanded.run([...again, '--dry-run']);
    assert.match(out, /^2 deliveries would be sent again \(.+, of customer cus_1\)/);
    const done = await commanded.json([...again, '--yes']);
    assert.deepEqual([done['state'], done['replayed']], ['done', 2]);
  });

  it('answers mistakes with what was expected', async () => {
    const sub = `sub_${'0'.repeat(26)}`;
    const mistakes: [string[], number, RegExp][] = [
      [
        ['evt_00000000000000000000000000'],
        2,
        /expected a subscription, sub_….*\n {2}ringback events evt_/,
      ],
      [['x'], 2, /^Cannot show "x": expected a subscription, sub_…\n/],
      [[sub], 1, /^There is no subscription "sub_0+"\nIt may belong to another app/],
      [[sub, sub], 2, /^Cannot show several subscriptions/],
      [['--ping'], 2, /^Cannot ping: no subscription given, expected sub_…/],
      [
        [sub, '--ping', '--pause'],
        2,
        /^Cannot run several actions at once: give either --pause or --ping/,
      ],
      [[sub, '--overlap', '1d'], 2, /requires --rotate-secret/],
      [[sub, '--rotate-secret', '--overlap', '1ms'], 2, /^Cannot read --overlap "1ms"/],
      [['--state', 'activ'], 2, /did you mean "active"\?/],
      [['--all', '--limit', '3'], 2, /--all and --limit/],
    ];
    for (const [words, expected, message] of mistakes) {
      const { code, out, err } = await commanded.run(['subscriptions', ...words]);
      assert.deepEqual([code, out], [expected, ''], words.join(' '));
      assert.match(err, message);
    }
  });
});

describe('ringback unsubscribe', () => {
  it('ends one, on a terminal and again as JSON', { skip: noTerminal }, async () => {
    const id = await subscribe(receiver.url, '--event', 'ends');
    const { code, text } = await commanded.onTerminal(['unsubscribe', id]);
    assert.deepEqual([code, text], [0, `Unsubscribed ${id}. Nothing more is sent to it.\n`]);
    assert.equal((await read(id))['state'], 'ended');
    assert.deepEqual(await commanded.json(['unsubscribe', id]), { subscriberId: id });
    const wrong = await commanded.run(['unsubscribe', 'dlv_00000000000000000000000000_1']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /expected a subscription, sub_….*\n {2}ringback deliveries dlv_/);
    assert.equal((await commanded.run(['unsubscribe'])).code, 2);
  });
});
