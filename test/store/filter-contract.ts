// The contract of the Store port: payload filters, which apply wherever deliveries are created.
import { strict as assert } from 'node:assert';
import { after, before, describe, it } from 'node:test';
import type { App } from '../../src/core/domain/app.ts';
import { noControls } from '../../src/core/domain/controls.ts';
import type { Filter } from '../../src/core/domain/filter.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { Callback, Subscription } from '../../src/core/domain/subscription.ts';
import type { Accepted, Audience } from '../../src/store/port/delivery-verbs.ts';
import type { EditInput, Store } from '../../src/store/port/store.ts';
import type { OpenSubject, Subject } from './subject.ts';
import { callback, inactive, newApp, newSubscription } from './subject.ts';
import { settlementOf } from './settlement.ts';
import { newId } from './open-memory.ts';
import type { TestDispatcher } from './test-dispatcher.ts';
import { attachDispatcher } from './test-dispatcher.ts';

const { targetsAtOnceMax, fanOutStepMax, callbacksPerSubscriptionMax } = limits;
const paid: Filter = { '/type': ['paid'] };

export function filterContract(name: string, open: OpenSubject): void {
  describe(`the filter contract: ${name}`, () => {
    let subject: Subject;
    let store: Store;
    let dispatcher: TestDispatcher;
    before(async () => {
      subject = await open({ nowMs: () => 1_700_000_000_000 });
      store = subject.store;
      dispatcher = attachDispatcher(store);
    });
    after(async () => subject.dispose());

    describe('publish', () => {
      it('reaches callbacks with a matching filter or without one', async () => {
        const app = await newApp(store);
        const all = await subscribed(app, undefined);
        const some = await subscribed(app, { '/type': ['paid', 'open'], '/list/1/~0': [1, null] });
        const none = await subscribed(app, { '/type': [null], '/list/1/~0': [1] });
        const payloads: [string, Subscription[]][] = [
          ['{"type":"paid","list":[0,{"~":1.0}]}', [all, some]],
          ['{"list":[0,{"~":null}],"type":"\\u006fpen"}', [all, some]],
          ['{"type":null,"list":[0,{"~":1}]}', [all, none]],
          ['{"type":"paid","list":[{"~":1}]}', [all]],
          ['{"type":"paid"}', [all]],
          ['"paid"', [all]],
          ['not even JSON', [all]],
        ];
        const accepted = await publish(
          app,
          payloads.map(([payload]) => payload),
        );
        for (const [i, [payload, expected]] of payloads.entries()) {
          assert.equal(accepted[i]?.deliveries, expected.length, payload);
          assert.deepEqual(await reached(app, accepted[i]), idsOf(expected), payload);
        }
      });

      it('filters every event of a batch separately', async () => {
        const app = await newApp(store);
        await subscribed(app, paid);
        const payloads = ['{"type":"paid"}', '{"type":"open"}', '{"type":"paid"}'];
        const counts = await Promise.all(
          [payloads, payloads.toReversed()].map(async (some) => {
            return (await publish(app, some)).map(({ deliveries }) => deliveries);
          }),
        );
        assert.deepEqual(counts, [
          [1, 0, 1],
          [1, 0, 1],
        ]);
      });

      it('counts a callback once, even if several of its patterns match', async () => {
        const app = await newApp(store);
        await subscribed(app, paid, [callback(0, 'a.b a.* *'), callback(1, 'a.b')]);
        const input = publishInput(app, ['{"type":"paid"}'], 'a.b');
        assert.deepEqual(countsOf(await store.edit('publish', input)), [2]);
      });

      it('applies the filter of an addressed subscription, but not to a ping', async () => {
        const app = await newApp(store);
        const { id } = await subscribed(app, paid, [callback(0, 'a'), callback(1, 'b')]);
        const payloads = ['{"type":"paid"}', '{"type":"open"}'];
        const to = async (kind: 'subscription' | 'all_callbacks'): Promise<unknown> => {
          const input = publishInput(app, payloads, 'a', { kind, id });
          return countsOf(await store.edit('publish', input));
        };
        assert.deepEqual(await to('subscription'), [1, 0]);
        assert.deepEqual(await to('all_callbacks'), [2, 2]);
      });

      it('follows changes of the filter and of the patterns', async () => {
        const app = await newApp(store);
        const subscription = await subscribed(app, undefined, [callback(0, 'a'), inactive(1, 'a')]);
        const both = ['{"type":"paid"}', '{"type":"open"}'];
        const counts = async (): Promise<unknown> =>
          (await publish(app, both)).map(({ deliveries }) => deliveries);
        assert.deepEqual(await counts(), [1, 1]);
        await edit(subscription, { filter: { '/type': ['open'] } });
        assert.deepEqual(await counts(), [0, 1]);
        await edit(subscription, { filter: paid });
        assert.deepEqual(await counts(), [1, 0]);
        // Callbacks and patterns added later are filtered, too.
        await edit(subscription, { urls: [{ position: 1, url: 'https://other.example/' }] });
        assert.deepEqual(await counts(), [2, 0]);
        await edit(subscription, { events: [{ position: 0, events: ['*', 'b'] }] });
        assert.deepEqual(await counts(), [2, 0]);
        await edit(subscription, { filter: undefined });
        assert.deepEqual(await counts(), [2, 2]);
      });

      it('does not filter existing deliveries again', async () => {
        const app = await newApp(store);
        const subscription = await subscribed(app, paid);
        const input = publishInput(app, ['{"type":"paid"}']);
        const [fresh] = (await dispatcher.publish({ room: 1 }, input)).fresh;
        assert(fresh);
        await edit(subscription, { filter: { '/type': ['open'] } });
        await store.settle(settlementOf(fresh, 'delivered', 0));
        const retried = { appNo: app.no, event: fresh.event, n: fresh.n };
        assert.deepEqual(await store.edit('retryDelivery', retried), {
          kind: 'due',
          n: 1,
          customer: undefined,
        });
      });
    });

    describe('fanOut', () => {
      it('evaluates many filters in steps, and counts the matching ones', async () => {
        const app = await newApp(store);
        await crowd(app, targetsAtOnceMax, { '/type': ['open'] });
        assert.deepEqual(countsOf(await store.edit('publish', publishInput(app, ['{}']))), [0]);
        await crowd(app, fanOutStepMax, { '/type': ['other'] });
        const last = await subscribed(app, paid);
        const [accepted] = await publish(app, ['{"type":"paid"}']);
        assert(accepted);
        assert.equal(accepted.deliveries, undefined);
        const step = await dispatcher.fanOut({ room: 9 });
        assert.deepEqual(step.fannedOut, { deliveries: [], isMore: true });
        assert.equal(await countOf(app, accepted), undefined);
        await fanOutAll();
        assert.equal(await countOf(app, accepted), 1);
        assert.deepEqual(await reached(app, accepted), idsOf([last]));
        const [nobody] = await publish(app, ['{"type":"none"}']);
        await fanOutAll();
        assert.equal(await countOf(app, nobody), 0);
      });

      it('uses the patterns at the time of the publish, but the current filters', async () => {
        const app = await newApp(store);
        await crowd(app, targetsAtOnceMax, { '/type': ['open'] });
        const freed = await subscribed(app, { '/type': ['open'] });
        const bound = await subscribed(app, undefined);
        const deaf = await subscribed(app, undefined);
        const left = await subscribed(app, paid);
        const [accepted] = await publish(app, ['{"type":"paid"}']);
        await edit(freed, { filter: undefined });
        await edit(bound, { filter: { '/type': ['open'] } });
        // Its pattern no longer matches, but did at the time; its filter is the current one.
        const events = [{ position: 0, events: ['b'] }];
        await edit(deaf, { events });
        await edit(deaf, { filter: { '/type': ['open'] } });
        await edit(left, { events });
        await fanOutAll();
        assert.deepEqual(await reached(app, accepted), idsOf([freed, left]));
        assert.equal(await countOf(app, accepted), 2);
      });
    });

    async function subscribed(
      app: App,
      filter: Filter | undefined,
      callbacks: readonly Callback[] = [callback(0, 'a')],
    ): Promise<Subscription> {
      const controls = { ...noControls, filter };
      const output = await store.edit('subscribe', {
        subscription: newSubscription(app, { callbacks, controls }),
        idempotency: undefined,
      });
      assert(output.kind === 'created');
      assert.deepEqual(output.subscription.controls.filter, filter);
      return output.subscription;
    }

    /** That many callbacks that match `a`, in few subscriptions. */
    async function crowd(app: App, size: number, filter: Filter): Promise<void> {
      const most = callbacksPerSubscriptionMax;
      for (let left = size; left > 0; left -= most) {
        const countMatches = Array.from({ length: Math.min(left, most) }, (_, i) =>
          callback(i, 'a'),
        );
        await subscribed(app, filter, countMatches);
      }
    }

    type Change = Partial<Pick<EditInput<'editSubscription'>, 'urls' | 'events'>> & {
      filter?: Filter | undefined;
    };

    async function edit({ appNo, id }: Subscription, change: Change): Promise<void> {
      const seen = await store.read('subscription', { appNo, id });
      assert(seen);
      const { controls, headers, version } = seen;
      const { urls = [], events = [] } = change;
      const chosen = { controls: { ...controls, ...('filter' in change && change) }, headers };
      const edits = { state: undefined, urls, events, secrets: undefined, chosen };
      const output = await store.edit('editSubscription', { appNo, id, version, ...edits });
      assert.equal(output.kind, 'edited');
    }

    async function publish(app: App, payloads: readonly string[]): Promise<readonly Accepted[]> {
      const output = await store.edit('publish', publishInput(app, payloads));
      assert(output.kind === 'accepted');
      return output.events;
    }

    /** The subscriptions with a delivery of the event; checks that the numbers have no gaps. */
    async function reached(app: App, event: Accepted | undefined): Promise<string[]> {
      const sought = { state: undefined, name: undefined, subscription: undefined };
      const { items } = await store.read('deliveries', {
        appNo: app.no,
        page: { limit: 50, after: undefined },
        filter: { ...sought, event: event?.id },
      });
      const numbers = items.map(({ n }) => n).toReversed();
      assert.deepEqual(numbers, [...numbers.keys()]);
      return items.map(({ subscription }) => subscription).toSorted();
    }

    async function countOf(app: App, event: Accepted | undefined): Promise<number | undefined> {
      return (await store.read('event', { appNo: app.no, id: event?.id ?? '' }))?.deliveries;
    }

    async function fanOutAll(): Promise<void> {
      while ((await dispatcher.fanOut({ room: 0 })).fannedOut.isMore);
    }
  });
}

function publishInput(
  app: App,
  payloads: readonly string[],
  name = 'a',
  audience: Audience = { kind: 'everyone' },
): EditInput<'publish'> {
  const events = payloads.map((text) => ({ id: newId(), name, payload: Buffer.from(text) }));
  return { appNo: app.no, contract: 'Ringback', events, audience, idempotency: undefined };
}

function countsOf(output: { kind: string; events?: readonly Accepted[] }): unknown {
  assert.equal(output.kind, 'accepted');
  return output.events?.map(({ deliveries }) => deliveries);
}

function idsOf(subscriptions: readonly Subscription[]): string[] {
  return subscriptions.map(({ id }) => id).toSorted();
}
