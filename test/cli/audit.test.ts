// `ringback audit`: a table for people, and the export as lines of JSON.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import type { AuditEntry } from '../../src/client/client.ts';
import { startCommanded, type Commanded } from './command-stage.ts';

let commanded: Commanded;
before(async () => {
  commanded = await startCommanded();
});
after(async () => commanded[Symbol.asyncDispose]());

async function exported(...args: string[]): Promise<AuditEntry[]> {
  const { code, out, err } = await commanded.run(['audit', '--json', ...args]);
  assert.deepEqual([code, err], [0, '']);
  const lines = out.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as AuditEntry);
}

describe('ringback audit', () => {
  let id: string;
  const key = (): string => commanded.service.key.slice(0, 12);

  it('says what to expect of an empty trail', async () => {
    const { code, out, err } = await commanded.run(['audit']);
    assert.deepEqual([code, out], [0, '']);
    assert.match(err, /^No entries yet/);
    assert.deepEqual(await exported(), []);
  });

  it('lists who changed what, newest first', async () => {
    const callbackUrl = 'http://127.0.0.1:8099/';
    const settings = { customer: 'cus_1' };
    const body = { callbackUrl, 'x-ringback': settings };
    const made = await commanded.service.call({ method: 'POST', path: '/subscribe', body });
    id = String(made.json['subscriberId']);
    const change = { timeout: '3s', description: 'x' };
    const path = `/subscriptions/${id}`;
    await commanded.service.call({ method: 'PATCH', path, body: change });
    const { code, out, err } = await commanded.run(['audit'], { columns: 200 });
    assert.deepEqual([code, err], [0, '']);
    // oxlint-disable-next-line no-control-regex -- colours
    const rows = out.replaceAll(/\u001b\[\d+m/g, '').split('\n');
    assert.match(rows[0] ?? '', /^AT +ACTION +OBJECT +BY +ADDRESS +CUSTOMER +DETAILS$/);
    assert.match(
      rows[1] ?? '',
      new RegExp(
        `subscription\\.edited +${id} +${key()} +127\\.0\\.0\\.1 +cus_1 +fields: description, timeout`,
      ),
    );
    assert.match(rows[2] ?? '', /subscription\.created/);
  });

  it('filters, and refuses what is no filter', async () => {
    const actions = async (...args: string[]): Promise<string[]> =>
      (await exported(...args)).map(({ action }) => action);
    const both = ['subscription.edited', 'subscription.created'];
    assert.deepEqual(await actions('--object', id), both);
    assert.deepEqual(await actions('--by', key(), '--customer', 'cus_1', '--since', '1h'), both);
    assert.deepEqual(await actions('--action', 'subscription.created'), both.slice(1));
    assert.deepEqual(await actions('--until', '1h'), []);
    const none = await commanded.run(['audit', '--object', 'sub_x']);
    assert.match(none.err, /^No entry matches/);
    const wholeKey = commanded.service.key;
    for (const [args, pattern] of [
      [['--by', wholeKey], /^Cannot filter by "rbk_[^"]{8}": expected the id of a key/],
      [['sub_x'], /^Cannot audit "sub_x"/],
      [['--action', 'key.eaten'], /key\.eaten/],
    ] as const) {
      const { code, out, err } = await commanded.run(['audit', ...args]);
      assert.deepEqual([code, out], [2, ''], err);
      assert.match(err, pattern);
      assert(!err.includes(wholeKey));
    }
  });

  it('exports every page, an entry on each line, or as many as --limit says', async () => {
    const path = `/subscriptions/${id}/secret`;
    const count = limits.pageItemsMax + 3;
    await Promise.all(
      Array.from({ length: count }, async () => {
        const { status } = await commanded.service.call({ path });
        assert.equal(status, 200);
      }),
    );
    const all = await exported();
    assert.equal(all.length, count + 2);
    assert.equal(new Set(all.map((one) => one.id)).size, all.length);
    assert.deepEqual(await exported('--limit', '2'), all.slice(0, 2));
    const page = await commanded.run(['audit']);
    assert.match(page.err, /^More results exist/);
  });

  it('needs the scope admin', async () => {
    const body = { name: 'reader', scopes: ['read'] };
    const { json } = await commanded.service.call({ method: 'POST', path: '/keys', body });
    const env = { RINGBACK_API_KEY: String(json['key']) };
    const { code, err } = await commanded.run(['audit'], { env });
    assert.equal(code, 1);
    assert.match(err, /needs the scope "admin"/);
  });
});
