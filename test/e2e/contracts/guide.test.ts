// Tests docs/contracts.md: its document is the file served here, and its commands have the documented results.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { receive } from '../receiver.ts';
import { inState, onlyDelivery } from '../stage.ts';
import { serve } from './stage.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const guide = readFileSync(join(root, 'docs', 'contracts.md'), 'utf8');
const orders = readFileSync(join(import.meta.dirname, 'documents', 'orders.yaml'), 'utf8');

describe('docs/contracts.md', () => {
  it('shows the document that is served here', () => {
    assert.ok(guide.includes(`\`\`\`yaml\n${orders}\`\`\`\n`));
  });

  it('names every extension that the source reads in documents, and no other', () => {
    const source = globSync('src/contract/**/*.ts', { cwd: root })
      .filter((path) => !path.endsWith('.test.ts'))
      .map((path) => readFileSync(join(root, path), 'utf8'));
    const read = new Set(
      source.flatMap((text) => text.match(/(?<=')x-ringback[a-z-]*(?=')/gu) ?? []),
    );
    assert.ok(read.delete('x-ringback-opaque')); // Only Ringback's own document uses it.
    const named = new Set(guide.match(/x-ringback(?:-[a-z]+)*/gu));
    assert.deepEqual([...named].toSorted(), [...read].toSorted());
  });

  it('subscribes, publishes and unsubscribes as documented', async () => {
    await using service = await serve(orders);
    await using receiver = await receive(() => 204);
    const headers = { authorization: `Bearer ${service.key}` };
    const subscribe = { method: 'POST', path: '/v1/hooks', key: null };
    const body = { url: receiver.url, kind: 'paid' };
    assert.equal((await service.call({ ...subscribe, body })).status, 401);
    const made = await service.call({ ...subscribe, body, headers });
    assert.equal(made.status, 201, made.text);
    const { id, secret } = made.json;
    assert.deepEqual(made.json, { url: receiver.url, subscriberId: id, id, secret });
    assert.match(String(secret), /^whsec_/);
    assert.equal(made.headers.get('location'), `/v1/hooks/${String(id)}`);

    const payload = { order: '42', total: 9.5 };
    const published = await service.publish('order.paid', { payload });
    assert.deepEqual([published.status, published.json['deliveries']], [202, 1]);
    const [request] = await receiver.waitFor(1);
    assert.equal(request?.body.toString(), '{"order":"42","total":9.5}');
    const eventId = String(published.json['eventId']);
    const delivery = await inState(service, await onlyDelivery(service, { eventId }), 'delivered');
    assert.equal(delivery.attempts[0]?.warning, undefined);
    assert.equal(await service.deliveries('order.created', { payload }), 0);

    const broken = await service.publish('order.paid', { payload: { order: '42', total: -1 } });
    const { code, errors } = broken.json as { code: string; errors: object[] };
    assert.equal(broken.status, 422);
    const shown = guide
      .split('\n')
      .find((line) => line.startsWith('{"code": "payload_refused"'))
      ?.trim();
    assert.deepEqual(JSON.parse(shown ?? ''), { code, errors });

    const end = { method: 'DELETE', path: `/v1/hooks/${String(id)}`, key: null, headers };
    assert.equal((await service.call(end)).status, 204);
    assert.equal(await service.deliveries('order.paid', { payload }), 0);
  });

  it('also works without extensions, where each callback matches its label', async () => {
    const plain = orders
      .replaceAll(/^ *x-ringback-event.*\n/gmu, '')
      .replace(', x-ringback: secret', '');
    assert.ok(!plain.includes('x-ringback'));
    await using service = await serve(plain);
    const headers = { authorization: `Bearer ${service.key}` };
    const body = { url: 'http://127.0.0.1:9000/', kind: 'paid' };
    const { answer } = await service.subscribe({ path: '/v1/hooks', body, headers });
    assert.equal('secret' in answer.json, false);
    const payload = { order: '1', total: 0 };
    assert.equal(await service.deliveries('order', { payload }), 1);
  });
});
