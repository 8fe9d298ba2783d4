// The contract of the Store port: Ringback's own events (notices). All tests share one store, with an app for each.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { brokenAfter } from '../../src/core/domain/circuit-breaker.ts';
import { attempt, newApp, type OpenSubject } from './subject.ts';
import { none, noticeStage, page } from './notice-stage.ts';

export function noticeContract(name: string, open: OpenSubject): void {
  describe(`the notice contract: ${name}`, () => {
    const { on, subscribed, health, publish, fresh, settle, fail, breakDown, all, notices } =
      noticeStage(open);
    const { clock, newId } = on;

    it('reports a dead delivery in the transaction that ends it, if a subscription matches', async () => {
      const one = await subscribed('*');
      await fail(await fresh('a'));
      assert.deepEqual(await notices(), [], 'no subscription matches');
      await subscribed('ringback.delivery.*');
      const second = await fresh('a');
      await fail(second);
      const [notice, ...others] = await notices();
      assert.deepEqual(others, []);
      assert.equal(notice?.name, 'ringback.delivery.dead');
      const { message, ...facts } = notice.payload;
      assert.match(String(message), /is dead-lettered: its only attempt failed \(status 500\)/);
      assert.deepEqual(facts, {
        subscriberId: `sub_${one.id}`,
        callbackUrl: 'https://receiver.example/0',
        deliveryId: `dlv_${second.event}_0`,
        eventId: `evt_${second.event}`,
        event: 'a',
        reason: 'exhausted',
        attempts: 1,
        status: 500,
        error: 'status',
        at: new Date(clock.ms).toISOString(),
      });
    });

    it("does not report Ringback's own events, nor anything to another app", async () => {
      const audience = await subscribed('ringback.*', '*');
      await subscribed('ringback.*');
      await fail(await fresh('ringback.ping', audience));
      const own = await fresh('ringback.delivery.dead', audience);
      assert.equal((await settle(own, 'gone')).kind, 'gone');
      on.app = await newApp(on.store);
      const one = await subscribed('*');
      await fail(await fresh('a', one));
      assert.deepEqual(await all(), []);
    });

    it('reports several deliveries that die at once, each once', async () => {
      await subscribed('*');
      await subscribed('ringback.delivery.dead');
      const many = [await fresh('a'), await fresh('b'), await fresh('c')];
      await Promise.all(many.map(fail));
      const told = (await notices()).map(({ payload }) => payload['event']);
      assert.deepEqual(new Set(told), new Set(['a', 'b', 'c']));
      assert.equal(told.length, 3);
    });

    it('reports a gone receiver once, even if it responds with 410 twice', async () => {
      await subscribed('ringback.subscription.gone');
      const one = await subscribed('*');
      const [first, second] = [await fresh('a', one), await fresh('a', one)];
      assert.equal((await settle(first, 'gone')).kind, 'gone');
      assert.equal((await settle(second, 'gone')).kind, 'gone');
      const [notice, ...others] = await notices();
      assert.deepEqual(others, []);
      assert.equal(notice?.name, 'ringback.subscription.gone');
      assert.equal(notice.payload['subscriberId'], `sub_${one.id}`);
      assert.equal(notice.payload['deliveryId'], `dlv_${first.event}_0`);
      assert.match(
        String(notice.payload['message']),
        /in its response to event "a", with status 410/,
      );
    });

    it('reports a 410 to a ping, which ends the subscription, too', async () => {
      await subscribed('ringback.subscription.gone');
      const one = await subscribed('*');
      const ping = await fresh('ringback.ping', one);
      assert.equal((await settle(ping, 'gone')).kind, 'gone');
      const [notice, ...others] = await notices();
      assert.deepEqual(others, []);
      assert.equal(notice?.payload['subscriberId'], `sub_${one.id}`);
      assert.match(
        String(notice.payload['message']),
        /in its response to event "ringback.ping", with status 410/,
      );
    });

    it('reports deliveries that expired by retention', async () => {
      await subscribed('ringback.delivery.dead');
      const one = await subscribed('a');
      await publish('a', one);
      clock.ms += 40 * 24 * 60 * 60 * 1000;
      await on.store.edit('retain', { beforeMs: clock.ms - 1_000, limit: 100 });
      const [notice] = await notices();
      assert.equal(notice?.payload['reason'], 'expired');
      assert.equal(notice.payload['attempts'], 0);
    });

    it('publishes a notice once', async () => {
      await subscribed('*');
      const listener = await subscribed('ringback.delivery.dead');
      await fail(await fresh('a'));
      const [waiting] = await all();
      assert(waiting);
      const asked = {
        appNo: waiting.appNo,
        contract: '',
        audience: { kind: 'everyone' },
        idempotency: undefined,
        notice: waiting.no,
      } as const;
      const eventOf = () => ({
        id: newId(),
        name: waiting.name,
        payload: Buffer.from(waiting.payload),
      });
      const outputs = await Promise.all([
        on.store.edit('publish', { ...asked, events: [eventOf()] }),
        on.store.edit('publish', { ...asked, events: [eventOf()] }),
      ]);
      assert.deepEqual(outputs.map(({ kind }) => kind).toSorted(), ['accepted', 'taken']);
      assert.deepEqual(await all(), []);
      const filter = { ...none, name: waiting.name };
      const { items } = await on.store.read('deliveries', { appNo: on.app.no, page, filter });
      assert.deepEqual(
        items.map(({ subscription }) => subscription),
        [listener.id],
        '`*` does not hear it',
      );
    });

    it('returns the health of the receivers of a subscription', async () => {
      const one = await subscribed('a', 'b');
      assert.deepEqual(await health(one), {
        state: 'ok',
        failures: 0,
        failingMs: undefined,
        nextAttemptMs: undefined,
      });
      const failingMs = clock.ms;
      const first = await fresh('a', one);
      const dueMs = clock.ms + 5_000;
      const held = { event: first.event, n: first.n, lease: first.lease };
      const outcome = { kind: 'retry', waitMs: 5_000 } as const;
      await on.store.settle({ ...held, outcome, attempt: attempt({ startedMs: clock.ms }) });
      const failing = { state: 'failing', failures: 1, failingMs, nextAttemptMs: dueMs };
      assert.deepEqual(await health(one), failing);
      await breakDown(one, 'b');
      const worst = await health(one);
      assert.deepEqual(
        [worst.state, worst.failures, worst.failingMs],
        ['open', brokenAfter, failingMs],
      );
      const other = await newApp(on.store);
      const foreign = await on.store.read('subscriptionHealth', {
        appNo: other.no,
        ids: [one.id],
      });
      assert.equal(foreign[0]?.state, 'ok', 'nothing of another app');
      const fine = await subscribed('fine');
      const both = await on.store.read('subscriptionHealth', {
        appNo: on.app.no,
        ids: [fine.id, one.id, 'unknown'],
      });
      assert.deepEqual(
        both.map(({ state }) => state),
        ['ok', 'open', 'ok'],
      );
    });
  });
}
