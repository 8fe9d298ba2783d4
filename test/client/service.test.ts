import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, mock } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createClient, RingbackError, type Client } from '../../src/client/client.ts';
import { start, type Started } from '../api/harness.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the client of a real service', () => {
  let service: Started;
  let client: Client;
  /** Nothing listens there. */
  const callbackUrl = 'https://receiver.example/hook';

  before(async () => {
    service = await start({ names: { 'receiver.example': ['127.0.0.1'] } });
    client = createClient({ url: `${service.url}/`, key: service.key });
  });
  after(async () => service[Symbol.asyncDispose]());

  it('subscribes in all variants, shows, edits, and unsubscribes', async () => {
    const one = await client.subscribe({ callbackUrl, 'x-ringback': { metadata: { team: 'x' } } });
    const two = await client.subscribe({ callbackUrl, event: 'paused.only' });
    const three = await client.subscribe({ failedUrl: callbackUrl, successUrl: callbackUrl });
    assert.match(one.secret, /^whsec_/);
    const ids = [three, two, one].map(({ subscriberId }) => subscriberId);
    const listed = await Array.fromAsync(client.subscriptions.list({ limit: 2 }));
    assert.deepEqual(
      listed.map(({ id }) => id),
      ids,
    );
    assert.deepEqual(listed[2]?.metadata, { team: 'x' });
    const paused = await client.subscriptions.edit(two.subscriberId, { state: 'paused' });
    assert.equal(paused.state, 'paused');
    assert.equal(
      (await client.subscriptions.get(two.subscriberId)).callbacks[0]?.event,
      'paused.only',
    );
    assert.equal((await client.subscriptions.secret(one.subscriberId)).secret, one.secret);
    const rotated = await client.subscriptions.rotateSecret(one.subscriberId, {
      overlapSeconds: 60,
    });
    assert.equal(rotated.previous?.secret, one.secret);
    for (const id of ids) assert.equal((await client.unsubscribe(id)).subscriberId, id);
    assert.equal(await client.subscriptions.delete(one.subscriberId), undefined);
    const ended = await client.subscriptions.list({ state: 'ended' }).page();
    assert.equal(ended.items.length, 3);
  });

  it('preserves every byte of a payload, in both directions', async () => {
    const payloadText = '{ "message":"a\\u00e9", "n":12345678901234567890123, "x":1.0 }';
    const { eventId, deliveries } = await client.publish({ event: 'exact', payloadText });
    assert.equal(deliveries, 0);
    const shown = await client.events.get(eventId);
    assert.equal(shown.payloadText, payloadText);
    assert.equal(shown.event, 'exact');
    const plain = await client.publish({ event: 'plain', payload: { message: 'x' } });
    assert.deepEqual((await client.events.get(plain.eventId)).payload, { message: 'x' });
  });

  it('iterates over all pages of a list, and reads single pages', async () => {
    const batch = Array.from({ length: 7 }, (_, n) => ({
      event: 'walked',
      payload: { message: `number ${n}` },
    }));
    const { items } = await client.publishBatch(batch);
    const newestFirst = items.map(({ eventId }) => eventId).reverse();
    const listing = client.events.list({ event: 'walked', limit: 3 });
    for (const _ of [1, 2]) {
      const walked = await Array.fromAsync(listing, ({ id }) => id);
      assert.deepEqual(walked, newestFirst);
    }
    const first = await listing.page();
    const second = await listing.page(first.nextCursor);
    assert.deepEqual(
      second.items.map(({ id }) => id),
      newestFirst.slice(3, 6),
    );
    const from = client.events.list({ event: 'walked', cursor: first.nextCursor ?? undefined });
    assert.equal((await Array.fromAsync(from)).length, 4);
  });

  it('creates, rotates and revokes keys, whose scopes are enforced', async () => {
    const { id, key } = await client.keys.create({ name: 'reader', scopes: ['read'] });
    const reader = createClient({ url: service.url, key, retries: 0 });
    assert.ok((await reader.stats({ range: '15m' })).steps.length > 0);
    await assert.rejects(
      reader.publish({ event: 'a', payload: {} }),
      (error) =>
        error instanceof RingbackError && error.status === 403 && error.code === 'missing_scope',
    );
    const rotated = await client.keys.rotate(id, { overlapSeconds: 0 });
    await assert.rejects(reader.stats(), ({ code }: RingbackError) => code === 'unauthorized');
    await client.keys.revoke(rotated.id);
    assert.equal((await client.keys.get(rotated.id)).state, 'revoked');
  });

  it('reads statistics, contracts, nodes, apps, metrics and the document', async () => {
    assert.equal((await client.readiness()).status, 'ok');
    assert.match(await client.metrics(), /^# HELP /);
    assert.equal((await client.nodes()).length, 1);
    assert.match(await client.openapiYaml(), /^openapi: /m);
    assert.equal((await client.openapi())['openapi'], '3.0.4');
    const [contract] = await Array.fromAsync(client.contracts.list());
    assert.equal(contract?.title, 'Ringback');
    assert.equal((await client.contracts.report('Ringback')).title, 'Ringback');
    const types = await client.eventTypes.list().page();
    assert.ok(types.items.length > 0 && types.own.length > 0);
    const { subscriberId } = await client.subscribe({ callbackUrl, event: 'counted' });
    const stats = await client.subscriptionStats({ subscriberIds: [subscriberId, 'sub_unknown'] });
    assert.deepEqual(
      stats.items.map((one) => one.subscriberId),
      [subscriberId],
    );
    const app = await client.apps.create({ name: 'Second' });
    await client.apps.edit(app.id, { quotas: { subscriptions: 3 } });
    assert.equal((await client.apps.get(app.id)).quotas.subscriptions, 3);
    const names = await Array.fromAsync(client.apps.list(), ({ name }) => name);
    assert.ok(names.includes('Second'));
  });

  it('counts, starts and cancels replays', async () => {
    assert.deepEqual(await client.replays.count({ filter: { state: 'ended' } }), {
      matched: 0,
      isCapped: false,
    });
    const options = { idempotencyKey: 'replay 1' };
    const replay = await client.replays.create({ ratePerSecond: 1 }, options);
    assert.equal((await client.replays.create({ ratePerSecond: 1 }, options)).id, replay.id);
    assert.equal((await client.replays.get(replay.id)).id, replay.id);
    const cancelled = await client.replays.cancel(replay.id).catch((error: RingbackError) => error);
    // It may have ended already, because there was nothing to replay.
    assert.ok(
      cancelled instanceof RingbackError ? cancelled.status === 409 : cancelled.id === replay.id,
    );
    assert.equal((await client.replays.list().page()).items.length, 1);
  });

  it('reports errors with the codes of the service', async () => {
    const code = async (promise: Promise<unknown>): Promise<string> =>
      promise.then(
        () => 'none',
        (error: RingbackError) => `${error.status} ${error.code}`,
      );
    assert.equal(await code(client.subscriptions.get('../keys')), '404 not_found');
    assert.equal(await code(client.deliveries.retry('dlv_unknown')), '404 not_found');
    assert.equal(await code(client.publish({ event: 'a', payload: 1 })), '422 payload_refused');
    const event = { event: 'a', payload: { message: 'x' } };
    await client.publish(event, { idempotencyKey: 'same' });
    const other = client.publish({ ...event, event: 'b' }, { idempotencyKey: 'same' });
    assert.equal(await code(other), '422 idempotency_mismatch');
    const stranger = createClient({ url: service.url });
    assert.equal(await code(stranger.stats()), '401 unauthorized');
    assert.deepEqual(await stranger.health(), { status: 'ok' });
  });

  it('streams changes as they happen', async () => {
    const stop = new AbortController();
    let published = 0;
    let isFirst = true;
    for await (const frame of client.stream({ signal: stop.signal })) {
      assert.deepEqual(Object.keys(frame).sort(), [
        'at',
        'counts',
        'deliveries',
        'isReset',
        'lastEventId',
        'more',
        'pending',
        'replays',
        'subscriptions',
      ]);
      if (isFirst) await client.publish({ event: 'seen', payload: { message: 'x' } });
      isFirst = false;
      published += frame.counts.published;
      if (published > 0) stop.abort();
    }
    assert.equal(published, 1);
  });

  it('works as docs/client.md shows: its code blocks are a program that runs', async () => {
    const page = readFileSync(join(root, 'docs', 'client.md'), 'utf8');
    const blocks = [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)];
    const library = pathToFileURL(join(root, 'src', 'client', 'client.ts')).href;
    // src/client/typed-events.test.ts has what the block of TypeScript shows.
    const byLanguage = Map.groupBy(blocks, ([, language]) => language);
    assert.deepEqual([...byLanguage.keys()], ['js', 'ts']);
    const program =
      byLanguage
        .get('js')
        ?.map(([, , text]) => text)
        .join('\n') ?? '';
    const folder = await mkdtemp(join(tmpdir(), 'ringback-client-'));
    const log = mock.method(console, 'log', () => undefined);
    try {
      process.env['RINGBACK_URL'] = service.url;
      process.env['RINGBACK_API_KEY'] = service.key;
      const path = join(folder, 'program.mjs');
      await writeFile(path, program.replace("'ringback/client'", `'${library}'`));
      await import(pathToFileURL(path).href);
    } finally {
      log.mock.restore();
      await rm(folder, { recursive: true });
    }
    const said = log.mock.calls.map(({ arguments: values }) => values.map(String).join(' '));
    assert.match(said.join('\n'), /"cents":12345678901234567890/);
    assert.match(said.join('\n'), /^422 payload_refused /m);
    assert.match(said.join('\n'), /^true$/m);
  });
});
