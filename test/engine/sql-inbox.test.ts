// Events published by SQL: which entries are accepted, and the reasons for rejecting others. The
// whole path from the inbox to a receiver needs PostgreSQL; SQLite's inbox is always empty.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { loadContract } from '../../src/contract/compile/load.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { noQuotas } from '../../src/core/load/quotas.ts';
import { noChanges } from '../../src/engine/live/changes.ts';
import { validateEvents } from '../../src/engine/publish/validate-events.ts';
import { groupsOf, SqlInbox, validateEntry } from '../../src/engine/publish/sql-inbox.ts';
import type { InboxEntry } from '../../src/store/port/delivery-verbs.ts';
import { apiContext, openDatabase, startEngine } from './harness.ts';
import { ok, quickNetwork } from './network.ts';
import { virtualWorld } from './virtual-world.ts';

const contract = await loadContract(join(import.meta.dirname, '..', '..', 'openapi.yaml'));

const rules = { contracts: [contract], isLenient: false };

function reasonAgainst(one: InboxEntry): string | undefined {
  const validation = validateEntry(rules, one);
  return validation.kind === 'rejected' ? validation.reason : undefined;
}

function entry(payload: string | Uint8Array, name = 'order.created'): InboxEntry {
  const id = '01jc4t6v8m3q5r7w9x1y2z3a4b';
  const of = { no: 1, id, appNo: 1, quotas: noQuotas };
  const owner = { subject: undefined, customer: undefined };
  return { ...of, ...owner, name, payload: Buffer.from(payload) };
}

describe('validateEntry', () => {
  it('rejects a payload that exceeds the quota of its app', () => {
    const one = entry('{"message":"hello"}');
    assert.equal(validateEntry(rules, one, 19).kind, 'fit');
    const reason = "The payload has 19 bytes, the app's quota is 18";
    assert.deepEqual(validateEntry(rules, one, 18), { kind: 'rejected', reason });
  });

  it('accepts what a publisher over HTTP may send', () => {
    assert.equal(reasonAgainst(entry('{"message":"hello"}')), undefined);
    assert.equal(reasonAgainst(entry(' {"a":1,"a":2,"message":"m"} ')), undefined);
  });

  it('gives the reason that a publisher over HTTP would get', () => {
    for (const value of [{}, { message: 7 }, 'text', [1]]) {
      const at = { name: 'order.created', value, payload: new Uint8Array(), at: 'body#' };
      const validation = validateEvents(rules, [at], undefined);
      assert(validation.kind === 'refused');
      const told = validation.problem.message;
      assert.equal(reasonAgainst(entry(JSON.stringify(value))), told);
      assert.match(told, /^The payload violates the contract: body#\/payload/);
    }
  });

  it('rejects invalid event names, and those of Ringback itself', () => {
    const payload = '{"message":""}';
    assert.match(reasonAgainst(entry(payload, '')) ?? '', /it is not an event name/);
    assert.match(reasonAgainst(entry(payload, 'ringback.ping')) ?? '', /is reserved/);
  });

  it('rejects an invalid subject or customer, with the reason of a publisher over HTTP', () => {
    const most = { subject: limits.subjectCharsMax, customer: limits.customerCharsMax };
    for (const [member, length] of Object.entries(most)) {
      const one = { ...entry('{"message":""}'), [member]: 'c'.repeat(length) };
      assert.equal(reasonAgainst(one), undefined);
      for (const wrong of ['', 'c'.repeat(length + 1)]) {
        const told = `Cannot publish event "order.created": its ${member} is not a ${member}, expected 1 to ${length}`;
        const reason = reasonAgainst({ ...one, [member]: wrong }) ?? '';
        assert.ok(reason.startsWith(told), reason);
      }
    }
  });

  it('rejects payloads that are not JSON, too deep, or too large, without parsing them', () => {
    const reasons = [
      entry('{"message"'),
      entry(Buffer.from([0x22, 0xff, 0x22])),
      entry('['.repeat(100_000)),
      entry('['.repeat(limits.bodyBytesMax + 1)),
    ].map((one) => reasonAgainst(one) ?? '');
    assert.match(reasons[0] ?? '', /^Cannot read the payload: it is not valid JSON/);
    assert.match(reasons[1] ?? '', /^Cannot read the payload: it is not valid UTF-8/);
    assert.match(reasons[2] ?? '', /^Cannot read the payload: it is nested deeper/);
    assert.match(reasons[3] ?? '', /^The payload has 1048577 bytes, expected at most 1048576/);
  });
});

describe('groupsOf', () => {
  it('keeps the order, and puts no more into a group than one batch may hold', () => {
    const sizes = [1, limits.batchPayloadBytesMax, 2, 3, limits.batchPayloadBytesMax - 5, 1];
    const entries = sizes.map((size) => entry(new Uint8Array(size)));
    const groups = groupsOf(entries);
    assert.deepEqual(
      groups.map((group) => group.map(({ payload }) => payload.byteLength)),
      [[1], [limits.batchPayloadBytesMax], [2, 3, limits.batchPayloadBytesMax - 5], [1]],
    );
    assert.deepEqual(groups.flat(), entries);
    assert.deepEqual(groupsOf([]), []);
  });
});

describe('SqlInbox', () => {
  it('reads the inbox at every poll, and stops during its rest', async () => {
    const world = virtualWorld();
    const database = openDatabase();
    const { send } = quickNetwork(async () => ok);
    await using engine = await startEngine(world, database, send);
    const { store } = apiContext(engine, database);
    let looks = 0;
    const counted = {
      pollMs: 250,
      edit: async (...[verb, input]: Parameters<typeof store.edit>) => {
        looks += 1;
        return store.edit(verb, input);
      },
    } as Pick<typeof store, 'edit' | 'pollMs'>;
    const quotas = { of: () => noQuotas };
    const ignored = (): void => undefined;
    const confirming = { changes: noChanges, changed: ignored, expires: ignored };
    const deps = { world, store: counted, quotas, rules, ...confirming };
    const intake = new SqlInbox({ ...deps, onError: assert.ifError });
    await world.pass(1_000);
    assert.equal(looks, 5);
    await intake[Symbol.asyncDispose]();
    await world.pass(1_000);
    assert.equal(looks, 5);
  });
});
