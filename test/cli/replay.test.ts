// `ringback retry` and `ringback replay`: sending single deliveries again, and many at once.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { receive, type Receiver } from '../e2e/receiver.ts';
import {
  deliveryOf,
  get,
  inState,
  onlyDelivery,
  publish,
  quiet,
  subscribe,
  until,
} from '../e2e/stage.ts';
import { errorOf, startCommanded, type Commanded } from './command-stage.ts';
import { noTerminal } from './pty.ts';

let commanded: Commanded;
let receiver: Receiver;
before(async () => {
  commanded = await startCommanded({ RINGBACK_RETRY: '1ms' });
  receiver = await receive();
});
after(async () => {
  await commanded[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

/** Creates dead deliveries of one event, whose receiver would accept them now. */
async function die(event: string, count: number): Promise<string[]> {
  const { service } = commanded;
  await subscribe(service, { callbackUrl: receiver.url, event });
  receiver.script = () => 500;
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const { eventId } = await publish(service, event);
    const id = await onlyDelivery(service, { eventId });
    await inState(service, id, 'dead');
    ids.push(id);
  }
  receiver.script = () => 200;
  return ids;
}

describe('ringback retry', () => {
  it(
    'sends the named deliveries again, and lists those it could not send',
    { skip: noTerminal },
    async () => {
      const [one = '', two = ''] = await die('retry.some', 2);
      const unknown = `dlv_${'0'.repeat(26)}_0`;
      const { code, screen } = await commanded.onTerminal(['retry', one, unknown, two]);
      assert.equal(code, 1);
      assert.deepEqual(screen.slice(0, 4), [
        `Sent again  ${one}`,
        `Sent again  ${two}`,
        'Cannot retry 1 of 3:',
        `  ${unknown}: There is no delivery "${unknown}"`,
      ]);
      for (const id of [one, two]) await inState(commanded.service, id, 'delivered');
    },
  );

  it('reads ids from a pipe, and prints the new ids as JSON', async () => {
    const [one = ''] = await die('retry.piped', 1);
    const again = await commanded.json(['retry', '-'], { input: `${one}\n${one}\n` });
    assert.deepEqual(again, { items: [{ delivery: one, id: one, error: null }] });
    await inState(commanded.service, one, 'delivered');
    const { items } = (await commanded.json(['retry', one])) as {
      items: { delivery: string; id: string }[];
    };
    assert.equal(items[0]?.delivery, one);
    assert.notEqual(items[0]?.id, one);
    const { eventId } = await deliveryOf(commanded.service, items[0]?.id ?? '');
    assert.equal(eventId, (await deliveryOf(commanded.service, one)).eventId);
  });

  it('answers mistakes with what was expected', async () => {
    const held = Promise.withResolvers<number>();
    receiver.script = async () => held.promise;
    await subscribe(commanded.service, { callbackUrl: receiver.url, event: 'under.way' });
    const { eventId } = await publish(commanded.service, 'under.way');
    const running = await onlyDelivery(commanded.service, { eventId });
    const answer = await commanded.run(['retry', running, '--json']);
    assert.equal(answer.code, 1);
    assert.equal(errorOf(answer)['code'], 'conflict');
    const { items } = JSON.parse(answer.out) as {
      items: { id: null; error: { status: number } }[];
    };
    assert.deepEqual([items[0]?.id, items[0]?.error.status], [null, 409]);
    held.resolve(200);
    await inState(commanded.service, running, 'delivered');
    receiver.script = () => 200;
    const none = await commanded.run(['retry']);
    assert.deepEqual([none.code, none.out], [2, '']);
    assert.match(none.err, /^Cannot retry: no delivery given, expected one or more of dlv_…/);
    const wrong = await commanded.run(['retry', eventId]);
    assert.equal(wrong.code, 2);
    assert.match(
      wrong.err,
      /^Cannot retry "evt_\w+": expected a delivery, dlv_….*\n {2}ringback events evt_/,
    );
  });
});

describe('ringback replay', () => {
  it('counts, asks, and shows the result on a terminal', { skip: noTerminal }, async () => {
    const ids = await die('replay.asked', 3);
    const args = ['replay', '--event', 'replay.asked', '--since', '1h'];
    await using shown = commanded.startOnTerminal(args, { columns: 120 });
    await shown.says(
      /^3 deliveries would be sent again \(dead, replay\.asked, since \S+Z\), at most 50/,
    );
    await shown.says(/Send them again\? \[y\/N\]/);
    shown.type('y\n');
    assert.equal(await shown.ended, 0);
    assert.match(shown.text(), /\nreplay +rpl_\w+\nstate +done\n[^]*\nsent again +3\n/);
    for (const id of ids) await inState(commanded.service, id, 'delivered');
  });

  it('sends nothing without a confirmation', { skip: noTerminal }, async () => {
    const [id = ''] = await die('replay.unwanted', 1);
    await using shown = commanded.startOnTerminal(['replay', '--event', 'replay.unwanted']);
    await shown.says(/^1 delivery would be sent again[^]*\[y\/N\]/);
    shown.type('\n');
    assert.equal(await shown.ended, 1);
    assert.match(shown.text(), /\nNothing was sent again\.\n/);
    const piped = await commanded.run(['replay', '--event', 'replay.unwanted']);
    assert.deepEqual([piped.code, piped.out], [2, '']);
    assert.match(piped.err, /is not a terminal\. Pass --yes/);
    assert.equal((await deliveryOf(commanded.service, id)).state, 'dead');
  });

  it(
    'continues after Ctrl+C, and explains how to show and cancel it',
    { skip: noTerminal },
    async () => {
      const { service } = commanded;
      await subscribe(service, { callbackUrl: receiver.url, event: 'replay.left' });
      // At one per second it outlasts the test.
      for (let at = 0; at < 60; at += 1) await publish(service, 'replay.left');
      await quiet(service);
      const choice = ['--state', 'delivered', '--event', 'replay.left'];
      const args = ['replay', ...choice, '--rate', '1', '--yes'];
      await using shown = commanded.startOnTerminal(args);
      await shown.says(/Sending again {2}[█░]+ .* of 60 .*rpl_\w+/);
      shown.type('\u0003');
      assert.equal(await shown.ended, 130);
      const [, id = ''] = /Stopped watching; (rpl_\w+) continues\.\n/.exec(shown.text()) ?? [];
      assert.match(
        shown.text(),
        new RegExp(`ringback replay show ${id} .*\\n.*ringback replay cancel ${id} `),
      );
      assert.doesNotMatch(shown.text(), / of 60/, 'the bar was removed');
      const running = await commanded.json(['replay', 'show', id]);
      assert.equal(running['state'], 'running');
      const cancelled = await commanded.run(['replay', 'cancel', id]);
      assert.match(cancelled.out, /\nstate +cancelled\n/);
      await quiet(commanded.service);
    },
  );

  it('runs without a question with --yes, prints JSON, or only counts', async () => {
    const [id = ''] = await die('replay.silent', 1);
    const args = ['replay', '--event', 'replay.silent'];
    const counted = await commanded.json([...args, '--dry-run']);
    assert.deepEqual(counted, { matched: 1, isCapped: false });
    const said = await commanded.run([...args, '--dry-run']);
    assert.match(said.out, /^1 delivery would be sent again .*in about 1 s\.\n$/);
    const done = await commanded.json([...args, '--yes']);
    assert.deepEqual([done['state'], done['replayed']], ['done', 1]);
    await inState(commanded.service, id, 'delivered');
    assert.equal(await commanded.json([...args, '--yes']), null);
    const none = await commanded.run([...args, '--subject', 'job_17', '--yes']);
    assert.deepEqual([none.code, none.out], [0, '']);
    assert.match(none.err, /No delivery matches \(dead, replay\.silent, about job_17\)/);
    const state = ['--state', 'delivered', '--no-wait', '--yes'];
    const begun = await commanded.json([...args, ...state]);
    const path = `/replays/${String(begun['id'])}`;
    await until(
      async () => get<{ state: string }>(commanded.service, path),
      (one) => one.state === 'done',
    );
    assert.deepEqual(await commanded.json(['replay', 'show', String(begun['id'])]), {
      ...(await commanded.service.call({ path })).json,
    });
    await quiet(commanded.service);
  });

  it('lists replays, and answers mistakes with what was expected', async () => {
    const { json } = await commanded.service.call({ path: '/replays' });
    assert.deepEqual(await commanded.json(['replay', 'list']), json);
    const { out } = await commanded.run(['replay', 'list'], { columns: 120 });
    assert.match(out, /ID.*STATE.*DONE.*SENT/);
    const mistakes: [string[], number, RegExp][] = [
      [['lst'], 2, /^Cannot replay "lst": did you mean "list"\?/],
      [['show'], 2, /^Cannot show a replay: no id given, expected rpl_…/],
      [['cancel', 'sub_1'], 2, /^Cannot cancel "sub_1": expected a replay, rpl_…/],
      [['show', `rpl_${'0'.repeat(26)}`], 1, /^There is no replay/],
      [['list', 'all'], 2, /^Cannot replay "all": the command takes options only/],
      [['--state', 'due'], 2, /expected dead, delivered, cancelled or ended/],
      [['--limit', '5', '--yes'], 2, /^Cannot combine --limit with a new replay/],
      [
        ['cancel', `rpl_${'0'.repeat(26)}`, '--event', 'a'],
        2,
        /^Cannot combine --event with "cancel"/,
      ],
      [['--rate', '0'], 2, /expected a number from 1 to 1000/],
    ];
    for (const [words, expected, message] of mistakes) {
      const answer = await commanded.run(['replay', ...words]);
      assert.deepEqual([answer.code, answer.out], [expected, ''], words.join(' '));
      assert.match(answer.err, message);
    }
  });
});
