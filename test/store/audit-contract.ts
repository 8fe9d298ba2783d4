// The contract of the Store port: the audit trail. An entry belongs to the transaction of its change, and a change leaves
// exactly one.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { Audit, AuditAction, AuditActor, AuditEntry } from '../../src/core/domain/audit.ts';
import type { App } from '../../src/core/domain/app.ts';
import type { AuditFilter } from '../../src/store/port/audit-verbs.ts';
import { VerbFailed, type EditInput, type EditOutput } from '../../src/store/port/store.ts';
import { noticeStage } from './notice-stage.ts';
import { everything } from './replay-stage.ts';
import { digest, newApp, newKey, newSubscription, type OpenSubject } from './subject.ts';

const by: AuditActor = { kind: 'key', keyId: 'abcdefgh', address: '203.0.113.7', requestId: 'r1' };

export function auditContract(name: string, open: OpenSubject): void {
  describe(`the audit contract: ${name}`, () => {
    const { on, subscribed: subscribedTo, fresh, settle } = noticeStage(open);
    const { clock, newId } = on;

    function audit(action: AuditAction, changes: Partial<Audit> = {}): Audit {
      return { appNo: on.app.no, by, action, object: 'sub_x', ...changes };
    }

    async function list(
      filter: AuditFilter = {},
      page: { limit?: number; after?: string | undefined } = {},
    ): Promise<{ items: readonly AuditEntry[]; next: string | undefined }> {
      const given = { limit: page.limit ?? 50, after: page.after };
      return on.store.read('audit', { appNo: on.app.no, page: given, filter });
    }

    /** What each entry says, oldest first. */
    async function said(filter: AuditFilter = {}): Promise<unknown[]> {
      const { items } = await list(filter);
      return items
        .map(({ no: _no, atMs: _at, by: _by, ...rest }) => JSON.parse(JSON.stringify(rest)))
        .reverse();
    }

    async function subscribe(
      changes: Parameters<typeof newSubscription>[1] = {},
      more: Partial<EditInput<'subscribe'>> = {},
    ): Promise<EditOutput<'subscribe'>> {
      const subscription = newSubscription(on.app, changes);
      const given = audit('subscription.created', { object: `sub_${subscription.id}` });
      return on.store.edit('subscribe', {
        subscription,
        idempotency: undefined,
        audit: given,
        ...more,
      });
    }

    async function made(changes: Parameters<typeof newSubscription>[1] = {}): Promise<{
      appNo: number;
      id: string;
      version: number;
    }> {
      const output = await on.store.edit('subscribe', {
        subscription: newSubscription(on.app, changes),
        idempotency: undefined,
      });
      assert(output.kind === 'created');
      return output.subscription;
    }

    const nothing = { state: undefined, urls: [], secrets: undefined } as const;

    it('says who did what, when and from where', async () => {
      clock.ms += 1;
      const output = await subscribe({ customer: 'acme' });
      assert(output.kind === 'created');
      const [entry, ...others] = (await list()).items;
      assert.deepEqual(others, []);
      assert(entry !== undefined && entry.no > 0);
      assert.deepEqual(entry, {
        no: entry.no,
        atMs: clock.ms,
        by: { ...by, customer: undefined },
        action: 'subscription.created',
        object: `sub_${output.subscription.id}`,
        customer: 'acme',
        details: {},
      });
    });

    it('is empty for edits that are not recorded', async () => {
      const one = await made();
      await on.store.edit('unsubscribe', { appNo: on.app.no, id: one.id });
      assert.deepEqual(await said(), []);
    });

    it('gets one entry for each subscription, for repeated and refused requests none', async () => {
      const idempotency = { key: digest('key'), print: digest('print') };
      const id = newId();
      const outputs = await Promise.all([
        subscribe({ id }, { idempotency }),
        subscribe({}, { idempotency }),
        subscribe({}, { idempotency: { ...idempotency, print: digest('other') } }),
        subscribe({}, { subscriptionsMax: 0 }),
        subscribe({ customer: 'acme' }),
      ]);
      assert.deepEqual(
        outputs.map(({ kind }) => kind),
        ['created', 'repeated', 'mismatch', 'full', 'created'],
      );
      const objects = (await list()).items.map(({ object }) => object);
      const [, , , , last] = outputs;
      assert(last?.kind === 'created');
      assert.deepEqual(new Set(objects), new Set([`sub_${id}`, `sub_${last.subscription.id}`]));
      assert.equal(objects.length, 2);
    });

    it('names what a subscription replaced, and what a request without one ended', async () => {
      const { appNo } = await made({ resource: 'a'.repeat(64), customer: 'acme' });
      const [{ id } = { id: '' }] = (
        await on.store.read('subscriptions', {
          appNo,
          page: { limit: 1, after: undefined },
          state: undefined,
        })
      ).items;
      const second = await subscribe({ resource: 'a'.repeat(64), customer: 'acme' });
      assert(second.kind === 'created');
      const clear = {
        appNo,
        resource: 'a'.repeat(64),
        idempotency: undefined,
        audit: audit('subscription.ended', { object: undefined, details: { reason: 'replaced' } }),
      };
      await on.store.edit('clearResource', clear);
      await on.store.edit('clearResource', clear); // There is none any more.
      const object = `sub_${second.subscription.id}`;
      assert.deepEqual(await said(), [
        {
          action: 'subscription.created',
          object,
          customer: 'acme',
          details: { replaced: `sub_${id}` },
        },
        { action: 'subscription.ended', object, customer: 'acme', details: { reason: 'replaced' } },
      ]);
    });

    it('gets one entry for an edit, none for a stale one or one of an ended subscription', async () => {
      const one = await made({ customer: 'acme' });
      const key = { appNo: one.appNo, id: one.id, version: one.version };
      const given = audit('subscription.paused', { details: { fields: ['url'] } });
      const edit = { ...key, ...nothing, state: 'paused', audit: given } as const;
      assert.equal((await on.store.edit('editSubscription', edit)).kind, 'edited');
      assert.equal((await on.store.edit('editSubscription', edit)).kind, 'stale');
      await on.store.edit('unsubscribe', { appNo: one.appNo, id: one.id });
      assert.equal((await on.store.edit('editSubscription', edit)).kind, 'ended');
      assert.deepEqual(await said(), [
        {
          action: 'subscription.paused',
          object: 'sub_x',
          customer: 'acme',
          details: { fields: ['url'] },
        },
      ]);
    });

    it('gets one entry when a subscription is confirmed or ended, repeated or not', async () => {
      const { appNo, id } = await made({ confirmByMs: clock.ms + 1_000, customer: 'acme' });
      const confirm = { appNo, id, audit: audit('subscription.confirmed') };
      const end = { appNo, id, audit: audit('subscription.ended') };
      const outputs = await Promise.all(
        [1, 2].map(async () => on.store.edit('confirmSubscription', { ...confirm })),
      );
      await on.store.edit('confirmSubscription', confirm);
      assert(outputs.every(({ kind }) => kind === 'confirmed'));
      await Promise.all([1, 2].map(async () => on.store.edit('unsubscribe', { ...end })));
      await on.store.edit('unsubscribe', end);
      await on.store.edit('confirmSubscription', confirm);
      await on.store.edit('unsubscribe', { ...end, id: newId() });
      assert.deepEqual(
        (await said()).map((one) => JSON.stringify(one)),
        ['confirmed', 'ended'].map((what) =>
          JSON.stringify({
            action: `subscription.${what}`,
            object: 'sub_x',
            customer: 'acme',
            details: {},
          }),
        ),
      );
    });

    it('records keys, with the customer that they are for', async () => {
      const { no: appNo } = on.app;
      const key = newKey({ scopes: ['read'], customer: 'acme' });
      const object = `rbk_${key.id}`;
      const create = { appNo, key, audit: audit('key.created', { object }) };
      assert.equal((await on.store.edit('createKey', create)).kind, 'created');
      assert.equal((await on.store.edit('createKey', create)).kind, 'key_taken');
      const named = { appNo, id: key.id };
      const rotate = { ...named, hash: digest('next'), oldUntilMs: clock.ms };
      await on.store.edit('rotateKey', { ...rotate, audit: audit('key.rotated', { object }) });
      const revoke = { ...named, audit: audit('key.revoked', { object }) };
      await on.store.edit('revokeKey', revoke);
      await on.store.edit('revokeKey', revoke);
      await on.store.edit('rotateKey', { ...rotate, audit: audit('key.rotated', { object }) });
      assert.deepEqual(await said(), [
        { action: 'key.created', object, customer: 'acme', details: { scopes: ['read'] } },
        { action: 'key.rotated', object, customer: 'acme', details: {} },
        { action: 'key.revoked', object, customer: 'acme', details: {} },
      ]);
    });

    it('records sessions, apps and event types, with the names of what has changed', async () => {
      const { no: appNo } = on.app;
      const key = newKey();
      await on.store.edit('createKey', { appNo, key });
      const hash = digest('token');
      const session = { hash, kind: 'session', keyId: key.id, keyHash: key.hash } as const;
      const expiresMs = clock.ms + 1_000;
      const start = {
        ...session,
        expiresMs,
        audit: audit('session.started', { object: undefined }),
      };
      await on.store.edit('createSession', start);
      const unknown = { ...start, hash: digest('other'), keyId: 'zzzzzzzz' };
      assert.equal((await on.store.edit('createSession', unknown)).kind, 'not_found');
      const end = { hash, audit: audit('session.ended', { object: undefined }) };
      await on.store.edit('endSession', end);
      await on.store.edit('endSession', end);
      const edit = { appNo, audit: audit('app.edited', { object: 'app_x' }) };
      const quotas = { eventsPerSecond: 5 };
      await on.store.edit('editApp', { ...edit, name: `new ${newId()}`, quotas });
      await on.store.edit('editApp', { ...edit, name: undefined, quotas });
      const type = {
        name: 'a',
        schema: '{}',
        description: undefined,
        example: undefined,
        state: 'active',
      } as const;
      const put = { appNo, type, audit: audit('event_type.replaced', { object: 'a' }) };
      await on.store.edit('putEventType', put);
      await on.store.edit('putEventType', put);
      await on.store.edit('putEventType', { ...put, type: { ...type, state: 'deprecated' } });
      const remove = { appNo, name: 'a', audit: audit('event_type.deleted', { object: 'a' }) };
      await on.store.edit('deleteEventType', remove);
      await on.store.edit('deleteEventType', remove);
      assert.deepEqual(await said(), [
        { action: 'session.started', details: {} },
        { action: 'session.ended', details: {} },
        { action: 'app.edited', object: 'app_x', details: { fields: ['name', 'eventsPerSecond'] } },
        { action: 'event_type.created', object: 'a', details: {} },
        { action: 'event_type.replaced', object: 'a', details: { fields: ['state'] } },
        { action: 'event_type.deleted', object: 'a', details: {} },
      ]);
    });

    it('records what changes nothing, if it is told to', async () => {
      await on.store.edit('recordAudit', { audit: audit('secret.shown', { customer: 'acme' }) });
      assert.deepEqual(await said(), [
        { action: 'secret.shown', object: 'sub_x', customer: 'acme', details: {} },
      ]);
    });

    it('records a retry with the new delivery, and a receiver that ended its subscription', async () => {
      const one = await subscribedTo('a');
      const leased = await fresh('a', one);
      await settle(leased, 'delivered');
      const { event, n } = leased;
      const retry = { appNo: on.app.no, event, n, audit: audit('delivery.retried') };
      const output = await on.store.edit('retryDelivery', retry);
      assert(output.kind === 'due');
      assert.equal(
        (await on.store.edit('retryDelivery', { ...retry, n: output.n })).kind,
        'pending',
      );
      const gone = await subscribedTo('b');
      assert.equal((await settle(await fresh('b', gone), 'gone')).kind, 'gone');
      const [retried, ended, ...others] = await said();
      assert.deepEqual(others, []);
      assert.deepEqual(retried, {
        action: 'delivery.retried',
        object: 'sub_x',
        details: { delivery: `dlv_${leased.event}_${output.n}` },
      });
      assert.deepEqual(ended, {
        action: 'subscription.ended',
        object: `sub_${gone.id}`,
        details: { reason: 'gone' },
      });
      const [last] = (await list({ action: 'subscription.ended' })).items;
      assert.equal(last?.by.kind, 'service');
    });

    it('records that a replay was started and cancelled, each once', async () => {
      const one = await subscribedTo('a');
      await settle(await fresh('a', one), 'delivered');
      const { no: appNo } = on.app;
      const id = newId();
      const start = {
        replay: {
          id,
          appNo,
          filter: { ...everything, state: 'delivered' },
          ratePerSecond: 1,
        },
        runningMax: 1,
        idempotency: { key: digest(id), print: digest('replay') },
        audit: audit('replay.created'),
      } as const;
      const outputs = [];
      for (let times = 0; times < 2; times += 1) {
        outputs.push((await on.store.edit('createReplay', start)).kind);
      }
      const other = { ...start, replay: { ...start.replay, id: newId() }, idempotency: undefined };
      outputs.push((await on.store.edit('createReplay', other)).kind);
      assert.deepEqual(outputs, ['created', 'repeated', 'too_many']);
      const cancel = { appNo, id, audit: audit('replay.cancelled') };
      await on.store.edit('cancelReplay', cancel);
      await on.store.edit('cancelReplay', cancel);
      assert.deepEqual(
        (await list()).items.map(({ action }) => action),
        ['replay.cancelled', 'replay.created'],
      );
    });

    it('gets no entry of an edit that breaks a rule, but those of its batch', async () => {
      const { no: appNo } = on.app;
      const create = async (changes: Parameters<typeof newKey>[0]): Promise<unknown> => {
        const key = newKey(changes);
        const object = `rbk_${key.id}`;
        const input = { appNo, key, audit: audit('key.created', { object }) };
        await on.store.edit('createKey', input);
        return object;
      };
      const [good, bad, better] = await Promise.allSettled([
        create({}),
        create({ hash: new Uint8Array(3) }),
        create({}),
      ]);
      assert(bad.status === 'rejected' && bad.reason instanceof VerbFailed);
      assert(good.status === 'fulfilled' && better.status === 'fulfilled');
      const objects = (await list()).items.map(({ object }) => object).reverse();
      assert.deepEqual(objects, [good.value, better.value]);
    });

    it('undoes the change if the entry cannot be written', async () => {
      const { no: appNo } = on.app;
      const key = newKey();
      const input = { appNo, key, audit: audit('key.created', { object: '' }) };
      await assert.rejects(on.store.edit('createKey', input));
      assert.equal(await on.store.read('key', { id: key.id }), undefined);
      assert.deepEqual(await said(), []);
    });

    async function recordMany(): Promise<App> {
      const other = await newApp(on.store);
      const actors: AuditActor[] = [
        by,
        { ...by, keyId: 'other000' },
        { kind: 'portal', customer: 'acme' },
        { ...by, customer: 'acme' },
      ];
      for (let i = 0; i < 9; i += 1) {
        clock.ms += i % 3 === 0 ? 1 : 0; // Three entries of one time.
        const given = audit(i % 2 === 0 ? 'secret.shown' : 'key.created', {
          by: actors[i % actors.length] ?? by,
          object: `sub_${i % 4}`,
          customer: i % 4 === 1 ? 'other' : undefined,
        });
        await on.store.edit('recordAudit', { audit: given });
        await on.store.edit('recordAudit', { audit: { ...given, appNo: other.no } });
      }
      return other;
    }

    it('lists entries of the app, newest first, page by page', async () => {
      await recordMany();
      const all = (await list()).items;
      assert.equal(all.length, 9);
      const numbers = all.map(({ no }) => no);
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => b - a),
      );
      const read: number[] = [];
      let after: string | undefined;
      do {
        const page = await list({}, { limit: 2, after });
        assert(page.items.length <= 2);
        read.push(...page.items.map(({ no }) => no));
        after = page.next;
      } while (after !== undefined);
      assert.deepEqual(read, numbers);
    });

    it('filters by action, object, key, customer, actor and time, also together', async () => {
      await recordMany();
      const all = (await list()).items;
      const lastMs = clock.ms;
      const cases: [AuditFilter, (one: AuditEntry) => boolean][] = [
        [{ action: 'key.created' }, ({ action }) => action === 'key.created'],
        [{ object: 'sub_1' }, ({ object }) => object === 'sub_1'],
        [{ keyId: 'other000' }, (one) => one.by.keyId === 'other000'],
        [{ customer: 'acme' }, ({ customer }) => customer === 'acme'],
        [
          { isOfBoundKey: true },
          ({ by: { kind, customer } }) => kind === 'key' && customer !== undefined,
        ],
        [{ fromMs: lastMs }, ({ atMs }) => atMs >= lastMs],
        [{ untilMs: lastMs }, ({ atMs }) => atMs < lastMs],
        [{ fromMs: lastMs - 1, untilMs: lastMs }, ({ atMs }) => atMs === lastMs - 1],
        [
          { customer: 'other', object: 'sub_1', action: 'key.created' },
          (one) =>
            one.customer === 'other' && one.object === 'sub_1' && one.action === 'key.created',
        ],
        [{ object: 'sub_9' }, () => false],
      ];
      for (const [filter, fits] of cases) {
        const wanted = all.filter(fits);
        const label = JSON.stringify(filter);
        assert.equal(wanted.length > 0, filter.object !== 'sub_9', label);
        assert.deepEqual((await list(filter)).items, wanted, label);
        const first = await list(filter, { limit: 1 });
        if (first.next === undefined) continue;
        const rest = await list(filter, { after: first.next });
        assert.deepEqual([...first.items, ...rest.items], wanted, label);
      }
    });

    it('forgets what is older, a bounded number at a time', async () => {
      const longAgo = async (): Promise<number> => {
        const input = { beforeMs: clock.ms, limit: 500 };
        return (await on.store.edit('forgetAudit', input)).deleted;
      };
      clock.ms += 10_000;
      await longAgo(); // Entries of the other tests.
      await recordMany();
      const lastMs = clock.ms;
      const forget = async (limit: number): Promise<number> =>
        (await on.store.edit('forgetAudit', { beforeMs: lastMs, limit })).deleted;
      assert.deepEqual([await forget(5), await forget(5), await forget(5)], [5, 5, 2]);
      assert.equal(await forget(5), 0);
      const left = (await list()).items;
      assert.deepEqual(
        left.map(({ atMs }) => atMs),
        [lastMs, lastMs, lastMs],
      );
    });

    it('ends a list whose next entries were forgotten', async () => {
      await recordMany();
      const first = await list({}, { limit: 2 });
      await on.store.edit('forgetAudit', { beforeMs: clock.ms + 1, limit: 500 });
      assert.deepEqual(await list({}, { after: first.next }), { items: [], next: undefined });
    });
  });
}
