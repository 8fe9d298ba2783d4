// `ringback publish`: one event from every source of a payload, waiting for its deliveries, and files of
// events that are interrupted, repeated and refused.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { sharedLabel } from '../e2e/contracts/stage.ts';
import { receive, type Receiver } from '../e2e/receiver.ts';
import { subscribe } from '../e2e/stage.ts';
import { newFolder, startChild, type Folder } from './ringback-process.ts';
import { errorOf, startCommanded, type Commanded } from './command-stage.ts';
import { isColoured, noTerminal } from './pty.ts';

let commanded: Commanded;
let receiver: Receiver;
let folder: Folder;
before(async () => {
  commanded = await startCommanded({ RINGBACK_RETRY: '1ms' });
  receiver = await receive(({ url }) => (url.startsWith('/bad') ? 500 : 200));
  folder = await newFolder();
});
after(async () => {
  await commanded[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

async function file(name: string, text: string): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, text);
  return path;
}

async function payloadOf(eventId: unknown): Promise<string> {
  const { text } = await commanded.service.call({ path: `/events/${String(eventId)}` });
  return text.slice(text.indexOf('"payload":') + 10, -1);
}

const line = (event: string, message: string): string =>
  `{"event":"${event}","payload":{"message":"${message}"}}\n`;

const lines = (event: string, count: number): string =>
  Array.from({ length: count }, (_, at) => line(event, String(at + 1))).join('');

/** The number of events with this name. */
async function published(event: string): Promise<number> {
  const args = ['events', '--event', event, '--all'];
  const { items } = (await commanded.json(args)) as { items: unknown[] };
  return items.length;
}

describe('ringback publish', () => {
  it('publishes the payload byte for byte, from every source', async () => {
    const payload = '{ "message" : "\\u00fc ü", "n": 12345678901234567890, "x":1e400 }';
    const path = await file('payload.json', `\n${payload}\n`);
    const ways: [string[], string | undefined][] = [
      [[payload], undefined],
      [['--file', path], undefined],
      [['-'], `${payload}\n`],
    ];
    for (const [words, input] of ways) {
      const options = input === undefined ? {} : { input };
      const accepted = await commanded.json(['publish', 'bytes.kept', ...words], options);
      assert.deepEqual(Object.keys(accepted).toSorted(), ['deliveries', 'eventId']);
      assert.equal(await payloadOf(accepted['eventId']), payload);
    }
    const { eventId } = await commanded.json(['publish', 'said', '--message', 'a "b"\n']);
    assert.equal(await payloadOf(eventId), '{"message":"a \\"b\\"\\n"}');
  });

  it('publishes to one subscription, and once for one idempotency key', async () => {
    const url = `${receiver.url}/to`;
    const one = await subscribe(commanded.service, { callbackUrl: url, event: 'to.one' });
    await subscribe(commanded.service, { callbackUrl: url, event: 'to.one' });
    const args = ['publish', 'to.one', '--message', 'x', '--idempotency-key', 'once-1'];
    const first = await commanded.json([...args, '--to', one.id]);
    assert.equal(first['deliveries'], 1);
    assert.deepEqual(await commanded.json([...args, '--to', one.id]), first);
    const other = await commanded.run([...args, '--json']);
    assert.deepEqual([other.code, other.out], [1, '']);
    const { code, status } = errorOf(other);
    assert.deepEqual([code, status], ['idempotency_mismatch', 422]);
  });

  it(
    'shows on a terminal the published event, a progress bar, and the result',
    { skip: noTerminal },
    async () => {
      const held = Promise.withResolvers<void>();
      await using slow = await receive(async () => {
        await held.promise;
        return 200;
      });
      await subscribe(commanded.service, { callbackUrl: slow.url, event: 'waited.for' });
      const args = ['publish', 'waited.for', '--message', 'x', '--wait'];
      await using shown = commanded.startOnTerminal(args);
      await shown.says(/Published waited\.for as evt_\w{26}: 1 delivery pending\./);
      await shown.says(/Delivering {2}░+ {2}0 % · 0 of 1/);
      held.resolve();
      assert.equal(await shown.ended, 0);
      assert.deepEqual(shown.screen().slice(1), ['All deliveries ended: 1 delivered.']);
      assert.ok(isColoured(shown.raw()));
    },
  );

  it('does not affect the event if Ctrl+C ends the wait', { skip: noTerminal }, async () => {
    const held = Promise.withResolvers<void>();
    await using slow = await receive(async () => {
      await held.promise;
      return 200;
    });
    await subscribe(commanded.service, { callbackUrl: slow.url, event: 'left.alone' });
    const args = ['publish', 'left.alone', '--message', 'x', '--wait'];
    await using shown = commanded.startOnTerminal(args);
    const [, id = ''] = await shown.says(/as (evt_\w+)/);
    await shown.says(/0 of 1/);
    shown.type('\u0003');
    assert.equal(await shown.ended, 130);
    assert.match(shown.text(), new RegExp(`\\n {2}ringback deliveries --event-id ${id}\\n`));
    assert.doesNotMatch(shown.text(), /0 of 1/);
    held.resolve();
    await slow.answered(1);
  });

  it('fails if a delivery is dead, and reports it as JSON without a bar', async () => {
    const bad = receiver.url.replace('/hook', '/bad');
    await subscribe(commanded.service, { callbackUrl: bad, event: 'half.bad' });
    await subscribe(commanded.service, { callbackUrl: receiver.url, event: 'half.bad' });
    const args = ['publish', 'half.bad', '--message', 'x', '--wait'];
    const answer = await commanded.run([...args, '--json']);
    assert.equal(answer.code, 1);
    const { eventId, ...rest } = JSON.parse(answer.out) as Record<string, unknown>;
    assert.deepEqual(rest, { deliveries: 2, ended: { delivered: 1, dead: 1, cancelled: 0 } });
    assert.match(
      String(errorOf(answer)['message']),
      new RegExp(`Cannot deliver ${String(eventId)}`),
    );
    const said = await commanded.run(args);
    assert.equal(said.code, 1);
    assert.match(
      said.out,
      /2 deliveries pending\.\nAll deliveries ended: 1 delivered, 1 dead\.\n$/,
    );
    assert.match(
      said.err,
      /^Cannot deliver evt_\w+ to all subscribers: a delivery was dead-lettered\. See why:\n {2}ringback /,
    );
  });

  it('suggests to subscribe if no subscription matches', async () => {
    const { code, out } = await commanded.run(['publish', 'unheard', '--message', 'x', '--wait']);
    assert.equal(code, 0);
    assert.match(
      out,
      /: no subscription matches\. Subscribe first: ringback subscribe URL --event unheard\n/,
    );
    assert.match(out, /Nothing was sent\.\n$/);
  });

  it('answers mistakes with what was expected', async () => {
    const mistakes: [string[], number, RegExp][] = [
      [[], 2, /^Cannot publish: no event name given/],
      [['a'], 2, /^Cannot publish: no payload\. Give PAYLOAD, --message TEXT/],
      [['a', '{a:1}'], 2, /^Cannot publish PAYLOAD: .*expected JSON such as/],
      [['a', '{}', '{}'], 2, /^Cannot publish several payloads/],
      [['a', '{}', '--message', 'x'], 2, /^Cannot combine payloads: give only one of PAYLOAD, --/],
      [['a', '--file', '/no/such/file'], 1, /^Cannot read "\/no\/such\/file": ENOENT/],
      [
        ['a', '{}', '--to', 'evt_1'],
        2,
        /^Cannot publish to "evt_1": expected a subscription, sub_/,
      ],
      [
        ['a', '{"x":1}'],
        1,
        /^The payload violates the contract: body#\/payload\/message is required/,
      ],
      [['e'.repeat(257), '{}'], 1, /body#\/event/],
      [['a', '{}', '--mesage', 'x'], 2, /did you mean "--message"\?/],
      [['--batch', 'x', '--wait'], 2, /^Cannot combine --batch with/],
      [['--batch', '/no/such/file'], 1, /^Cannot read "\/no\/such\/file"/],
    ];
    for (const [words, expected, message] of mistakes) {
      const { code, out, err } = await commanded.run(['publish', ...words]);
      assert.deepEqual([code, out], [expected, ''], words.join(' '));
      assert.match(err, message);
    }
  });
});

describe('ringback publish --subject', () => {
  it('names the subject of an event, which lists show', async () => {
    const args = ['publish', 'about.one', '--message', 'x'];
    const { eventId } = await commanded.json([...args, '--subject', 'job_17']);
    await commanded.json([...args, '--audience', 'all']);
    const { items } = await commanded.json(['events', '--event', 'about.one']);
    const subjects = (items as { subject?: string }[]).map(({ subject }) => subject);
    assert.deepEqual(subjects, [undefined, 'job_17']);
    const shown = await commanded.run(['events', String(eventId)]);
    assert.match(shown.out, /\nsubject +job_17\n/);
    const listed = await commanded.run(['events', '--event', 'about.one'], { columns: 120 });
    assert.match(listed.out, /SUBJECT/);
    assert.match(listed.out, /about\.one +job_17 /);
  });

  it('contradicts --audience all, which has no other value', async () => {
    const args = ['publish', 'about.none', '--message', 'x', '--subject', 'job_17', '--audience'];
    const both = await commanded.run([...args, 'all']);
    assert.deepEqual([both.code, both.out], [1, '']);
    assert.match(both.err, /body#\/subject contradicts audience, expected only one of the two/);
    assert.equal((await commanded.run([...args, 'some'])).code, 2);
    assert.equal(await published('about.none'), 0);
  });

  it('is a member of a line in a file of events, for which it counts once', async () => {
    const about = (subject: string): string =>
      line('about.each', 'x').replace('{', `{"subject":${subject},`);
    const path = await file(
      'about.ndjson',
      about('"job_1"') + about('"job_2"') + line('about.each', 'x'),
    );
    for (const _again of [1, 2]) await commanded.json(['publish', '--batch', path]);
    const { items } = await commanded.json(['events', '--event', 'about.each']);
    const subjects = (items as { subject?: string }[]).map(({ subject }) => subject);
    assert.deepEqual(subjects, [undefined, 'job_2', 'job_1']);
    const refused = await commanded.run(['publish', '--batch', path, '--audience', 'all']);
    assert.match(refused.err, /\n {2}line 1 \/subject: contradicts audience/);
    assert.equal((await commanded.run(['publish', '--batch', path, '--subject', 'x'])).code, 2);
    const wrong = await file('about-wrong.ndjson', about('17'));
    const { err } = await commanded.run(['publish', '--batch', wrong]);
    assert.match(err, /^Cannot publish line 1: "subject" is not a string/);
  });
});

describe('ringback publish --batch', () => {
  it('publishes each event once, even if a run is killed and repeated', async () => {
    const path = await file('cut.ndjson', lines('cut.once', 2_001));
    const taken = Promise.withResolvers<void>();
    // The second batch reaches the service, but its response is held back.
    await using between = await standBetween(async (batches) => {
      if (batches < 2) return 'answer';
      taken.resolve();
      return 'hold';
    });
    const env = { ...commanded.env, RINGBACK_URL: between.url };
    await using child = startChild(['publish', '--batch', path], env);
    await taken.promise;
    child.signal('SIGKILL');
    assert.equal(await child.ended, 'SIGKILL');
    assert.deepEqual([child.out(), child.err()], ['', '']);
    assert.equal(await published('cut.once'), 2_000);
    for (const _again of [1, 2]) {
      const whole = await commanded.json(['publish', '--batch', path]);
      assert.deepEqual(whole, {
        published: 2_001,
        deliveries: 0,
        batches: 3,
        withSkippedCallbacks: 0,
      });
      assert.equal(await published('cut.once'), 2_001);
    }
    await commanded.json(['publish', '--batch', path, '--idempotency-key', 'on purpose']);
    assert.equal(await published('cut.once'), 4_002);
  });

  it('reports an unknown result if no response arrives, and can then be repeated', async () => {
    const path = await file('unsure.ndjson', lines('unsure.once', 3));
    await using between = await standBetween(async () => 'cut');
    const env = { RINGBACK_URL: between.url };
    const { code, out, err } = await commanded.run(['publish', '--batch', path], { env });
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /^Cannot publish lines 1 to 3: they may or may not have been accepted\.\n/);
    assert.match(
      err,
      /\n0 events before them were published\. Fix the cause and run the same command again/,
    );
    await commanded.json(['publish', '--batch', path]);
    assert.equal(await published('unsure.once'), 3);
  });

  it('stops at the first refused batch, names its lines, and continues once the file is fixed', async () => {
    const good = lines('refused.once', 1_500);
    const bad = good.replace('{"message":"1234"}', '{"text":"1234"}');
    const path = await file('refused.ndjson', bad);
    const { code, out, err } = await commanded.run(['publish', '--batch', path]);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /^Cannot publish lines 1001 to 1500: none of them was accepted\.\n/);
    assert.match(
      err,
      /\n {2}line 1234 \/payload\/message: is required .*\n1,000 events before them/,
    );
    assert.equal(await published('refused.once'), 1_000);
    await writeFile(path, good);
    const said = await commanded.run(['publish', '--batch', path]);
    assert.match(said.out, /^Published 1,500 events in 2 batches: 0 deliveries pending\.\n$/);
    assert.equal(said.err, '');
    assert.equal(await published('refused.once'), 1_500);
  });

  it('publishes nothing of a file with an invalid line; accepts standard input', async () => {
    const path = await file('wrong.ndjson', `${lines('half.read', 1_200)}{"event":"half.read"}\n`);
    const { code, err } = await commanded.run(['publish', '--batch', path]);
    assert.equal(code, 1);
    assert.match(err, /^Cannot publish line 1201: "payload" is missing, expected \{"event"/);
    assert.equal(await published('half.read'), 0);
    const input = lines('piped.in', 3);
    const piped = await commanded.json(['publish', '--batch', '-'], { input });
    assert.deepEqual(piped, { published: 3, deliveries: 0, batches: 1, withSkippedCallbacks: 0 });
    const none = await commanded.run(['publish', '--batch', '-'], { input: '\n' });
    assert.deepEqual([none.code, none.out], [0, '']);
    assert.match(none.err, /contains no events/);
  });

  it('shows a bar on a terminal, and removes it at the end', { skip: noTerminal }, async () => {
    const path = await file('bar.ndjson', lines('bar.shown', 1_001));
    const shown = await commanded.onTerminal(['publish', '--batch', path]);
    assert.equal(shown.code, 0);
    assert.match(shown.raw, /Publishing {2}░{30} {2}0 % · 0 of 1,001/);
    assert.deepEqual(shown.screen, ['Published 1,001 events in 2 batches: 0 deliveries pending.']);
  });
});

type Fate = 'answer' | 'hold' | 'cut';

/** A proxy that forwards batches, and decides the fate of the response to the first, second, … of them. */
async function standBetween(
  decide: (batches: number) => Promise<Fate>,
): Promise<AsyncDisposable & { url: string }> {
  let batches = 0;
  const server = createServer((request, response) => {
    const pass = async (): Promise<void> => {
      const { host: _host, connection: _connection, ...headers } = request.headers;
      const answer = await commanded.service.call({
        method: 'POST',
        path: request.url ?? '',
        headers: headers as Record<string, string>,
        body: await buffer(request),
      });
      batches += 1;
      const fate = await decide(batches);
      if (fate === 'answer') response.writeHead(answer.status).end(answer.text);
      if (fate === 'cut') response.destroy();
    };
    pass().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

describe('ringback publish, to callbacks with different schemas', () => {
  let shared: Commanded;
  before(async () => {
    const contract = await file('shared.yaml', sharedLabel(['order', 'user']));
    const files = { RINGBACK_CONTRACT: contract, RINGBACK_CONTRACT_ROOT: folder.path };
    shared = await startCommanded(files);
  });
  after(async () => shared[Symbol.asyncDispose]());

  it('names the callbacks that are skipped, as does the event', async () => {
    const { out } = await shared.run(['publish', 'changed', '{"user": 1}']);
    const [first = '', ...rest] = out.split('\n');
    const nobody = 'no subscription has a callback that matches the event and accepts the payload.';
    assert.ok(first.endsWith(nobody), first);
    assert.deepEqual(rest, [
      'Skipped, because the payload does not match the schema of this callback:',
      '  changed {$request.query.url} POST (watch-order): /order is required',
      '',
    ]);
    const [id = ''] = /evt_\w+/.exec(first) ?? [];
    const { skippedCallbacks } = await shared.json(['events', id]);
    assert.deepEqual((skippedCallbacks as { count: number }).count, 1);
    const shown = await shared.run(['events', id]);
    assert.match(
      shown.out,
      /skipped +changed \{\$request.query.url\} POST \(watch-order\): \/order is/,
    );
  });

  it('counts the events of a file that skip callbacks', async () => {
    const some = ['{"user":1}', '{"user":1,"order":1}', '{"order":1}'];
    const text = some.map((payload) => `{"event":"changed","payload":${payload}}\n`).join('');
    const args = ['publish', '--batch', await file('some.ndjson', text)];
    const { out } = await shared.run(args);
    assert.match(out, /^2 events skipped callbacks whose schemas /m);
    assert.equal((await shared.json(args))['withSkippedCallbacks'], 2);
  });
});
