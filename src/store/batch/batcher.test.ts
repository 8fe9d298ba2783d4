import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { sendEachTurn, sendWhenQuiet, type CreatePacer } from '../../core/load/batch-pacer.ts';
import type {
  FreshDelivery,
  Offer,
  NextWork,
  Settlement,
  Work,
  Worker,
} from '../port/delivery-verbs.ts';
import { StoreUnavailable, VerbFailed, type Withdraw } from '../port/store.ts';
import type {
  Batch,
  BatchReply,
  EditCall,
  EditReply,
  Transport,
  WorkReply,
} from '../port/transport-protocol.ts';
import type { BatchFacts } from './batch-cycle.ts';
import { createBatcher, type Batcher } from './batcher.ts';

const isSettled = { kind: 'done', output: { kind: 'settled' } } as const;
const poisoned = { kind: 'failed', message: 'poison', trace: '' } as const;
const quiet: NextWork = { readyMs: undefined, isFanningOut: false };
const nothing = {
  claimed: [],
  fannedOut: { deliveries: [], isMore: false },
  readyMs: undefined,
};

describe('createBatcher', () => {
  it('sends a lone edit at once', async () => {
    const { transport, batcher } = setUp();
    const edit = forget(batcher, 1);
    assert.deepEqual(transport.limitsSent(), [[1]]);
    transport.write();
    assert.deepEqual(await edit, { deleted: 1 });
  });

  it('collects edits while a batch is written, with one batch in flight at a time', async () => {
    const { transport, batcher } = setUp();
    const edits = [1, 2, 3, 4].map(async (n) => forget(batcher, n));
    assert.deepEqual(transport.limitsSent(), [[1]]);
    transport.write();
    await edits[0];
    assert.deepEqual(transport.limitsSent(), [[1], [2, 3, 4]]);
    edits.push(forget(batcher, 5));
    assert.equal(transport.limitsSent().length, 2);
    transport.write();
    await edits[3];
    transport.write();
    assert.deepEqual(
      await Promise.all(edits),
      [1, 2, 3, 4, 5].map((deleted) => ({ deleted })),
    );
    assert.deepEqual(transport.limitsSent(), [[1], [2, 3, 4], [5]]);
  });

  it('resolves in the order of submission', async () => {
    const { transport, batcher } = setUp();
    const order: number[] = [];
    const edits = [1, 2, 3].map(async (n) => forget(batcher, n).then(() => order.push(n)));
    transport.write();
    await edits[0];
    transport.write();
    await Promise.all(edits);
    assert.deepEqual(order, [1, 2, 3]);
  });

  it('sends nothing while each turn adds more, with sendWhenQuiet', async () => {
    const { transport, batcher } = setUp({ pacer: sendWhenQuiet() });
    const edits = [forget(batcher, 1), forget(batcher, 2)];
    await turn();
    edits.push(forget(batcher, 3));
    await turn();
    assert.deepEqual(transport.limitsSent(), []);
    await turn();
    assert.deepEqual(transport.limitsSent(), [[1, 2, 3]]);
    transport.write();
    await Promise.all(edits);
  });

  it('sends the edits of one turn together, at its end, with sendEachTurn', async () => {
    const { transport, batcher } = setUp({ pacer: sendEachTurn() });
    const edits = [1, 2, 3].map(async (n) => forget(batcher, n));
    const settled = batcher.settle(settlement('a'));
    assert.deepEqual(transport.limitsSent(), []);
    await turn();
    assert.deepEqual(transport.limitsSent(), [[1, 2, 3]]);
    assert.deepEqual(
      transport.sent[0]?.settlements.map(({ event }) => event),
      ['a'],
    );
    transport.write();
    await Promise.all([...edits, settled]);
  });

  it('sends edits that arrived with a reply before that reply is handed out, with sendEachTurn', async () => {
    const { transport, batcher } = setUp({ pacer: sendEachTurn() });
    const first = forget(batcher, 1).then(() => transport.left);
    await turn();
    transport.write();
    const second = forget(batcher, 2);
    assert.equal(await first, 2);
    transport.write();
    await second;
  });

  it('sends edits that waited for a reply with those that follow in the same turn, with sendEachTurn', async () => {
    const { transport, batcher } = setUp({ pacer: sendEachTurn() });
    const edits = [forget(batcher, 1)];
    await turn();
    edits.push(forget(batcher, 2));
    transport.write();
    await new Promise<void>((resolve) => process.nextTick(resolve)); // By now the reply has been read.
    edits.push(forget(batcher, 3));
    await turn();
    assert.deepEqual(transport.limitsSent(), [[1], [2, 3]]);
    transport.write();
    await Promise.all(edits);
  });

  it('closes after the replies that wait for the end of a turn', async () => {
    const { transport, batcher } = setUp({ pacer: sendEachTurn() });
    const heard: string[] = [];
    const edit = forget(batcher, 1).then(() => heard.push('answered'));
    const closed = batcher.close().then(() => heard.push('closed'));
    assert.deepEqual(transport.limitsSent(), [[1]]);
    transport.write();
    await Promise.all([edit, closed]);
    assert.deepEqual(heard, ['answered', 'closed']);
    assert.equal(transport.closed, 1);
  });

  it('stamps each batch with the time at which it is sent', async () => {
    const { transport, batcher, clock } = setUp();
    const edits = [1, 2].map(async (n) => forget(batcher, n));
    clock.ms = 777;
    transport.write();
    await edits[0];
    assert.deepEqual(
      transport.sent.map(({ nowMs }) => nowMs),
      [5, 777],
    );
    transport.write();
    await Promise.all(edits);
  });

  it('puts at most batchEditsMax into a batch', async () => {
    const { transport, batcher } = setUp({ batchEditsMax: 2 });
    const edits = [1, 2, 3, 4].map(async (n) => forget(batcher, n));
    for (const index of [0, 2, 3]) {
      transport.write();
      await edits[index];
    }
    assert.deepEqual(transport.limitsSent(), [[1], [2, 3], [4]]);
  });

  it('keeps publishes and other edits apart when asked to, and none waits for the other', async () => {
    const { transport, batcher } = setUp({ kinds: 'apart' });
    const edits: Promise<unknown>[] = [forget(batcher, 1)];
    for (const what of ['a', 2, 'b', 3, 'rescue', 'c', 4] as const) {
      if (what === 'rescue') edits.push(batcher.edit('rescue', { silentMs: 1 }));
      else if (typeof what === 'number') edits.push(forget(batcher, what));
      else edits.push(publish(batcher, what));
    }
    const sent = (): unknown[] => transport.sent.map(({ edits: calls }) => calls.map(nameOf));
    assert.deepEqual(sent(), [[1], ['a']], 'the publish goes beside the edit');
    for (const last of [0, 1, 7, 6, 5]) {
      transport.write();
      await edits[last];
    }
    assert.deepEqual(sent(), [[1], ['a'], [2, 3, 4], ['b', 'c'], ['rescue']]);
  });

  it('sends what keeps the node alive before all other edits, if they are apart', async () => {
    const { transport, batcher } = setUp({ kinds: 'apart' });
    const edits: Promise<unknown>[] = [forget(batcher, 1), forget(batcher, 2)];
    edits.push(batcher.edit('stopNode', { node: 1 }));
    transport.write();
    await edits[0];
    assert.deepEqual(transport.sent[1]?.edits.map(nameOf), ['stopNode']);
    transport.write();
    await edits[2];
    transport.write();
    await edits[1];
  });

  for (const kinds of ['together', 'apart'] as const) {
    it(`never sends an edit that was withdrawn, ${kinds}`, async () => {
      const { transport, batcher } = setUp({ kinds });
      const withdraws: Withdraw[] = [];
      const edits = [1, 2, 3].map(async (limit) => {
        const queued = (withdraw: Withdraw): number => withdraws.push(withdraw);
        return batcher.edit('forget', { idempotencyBeforeMs: 0, limit }, queued);
      });
      assert.deepEqual(
        withdraws.slice(0, 2).map((withdraw) => withdraw()),
        [false, true],
        'the first has left',
      );
      assert.equal(withdraws[1]?.(), false, 'once');
      await assert.rejects(async () => edits[1], StoreUnavailable);
      assert.equal(batcher.waiting().edits, 1);
      transport.write();
      assert.deepEqual(await edits[0], { deleted: 1 });
      transport.write();
      assert.deepEqual(await edits[2], { deleted: 3 });
      assert.deepEqual(transport.limitsSent(), [[1], [3]]);
    });
  }

  it('sends first again what a batch had no time for, and it can be withdrawn until then', async () => {
    const { transport, batcher } = setUp({ kinds: 'apart' });
    const withdraws: Withdraw[] = [];
    const edits = [1, 2, 3, 4].map(async (limit) => {
      const queued = (withdraw: Withdraw): number => withdraws.push(withdraw);
      return batcher.edit('forget', { idempotencyBeforeMs: 0, limit }, queued);
    });
    transport.write();
    await edits[0];
    const later = forget(batcher, 5);
    const [, batch = assert.fail()] = transport.sent;
    assert.equal(batch.edits.length, 3);
    const done = [{ kind: 'done', output: { deleted: 2 } } as const];
    const rest = { settled: [], fresh: [], nextWork: quiet };
    transport.answer({ kind: 'written', edits: done, postponed: 2, ...rest });
    await edits[1];
    assert.deepEqual(transport.limitsSent(), [[1], [2, 3, 4], [3, 4, 5]]);
    transport.answer({ kind: 'written', edits: done, postponed: 2, ...rest });
    assert.equal(withdraws[3]?.(), false);
    await edits[2];
    assert.equal(withdraws[3]?.(), false, 'it is on its way again');
    transport.write();
    await Promise.all([edits[3], later]);
  });

  it('puts at most batchEditsMax callbacks into a batch of subscribes', async () => {
    const { transport, batcher } = setUp({ batchEditsMax: 3, kinds: 'apart' });
    const edits = [1, 2, 2, 1, 9].map(async (count) => subscribe(batcher, count));
    const sizes = [1, 1, 2, 1];
    for (const _ of sizes) {
      transport.write();
      await turn();
    }
    await Promise.all(edits);
    assert.deepEqual(
      transport.sent.map(({ edits: calls }) => calls.length),
      sizes,
    );
  });

  it('refuses at once when editsWaitingMax are queued, and accepts more when there is room', async () => {
    const { transport, batcher } = setUp({ editsWaitingMax: 2 });
    const edits = [1, 2, 3].map(async (n) => forget(batcher, n));
    await assert.rejects(forget(batcher, 4), StoreUnavailable);
    transport.write();
    await edits[0];
    edits.push(forget(batcher, 5));
    transport.write();
    await edits[2];
    transport.write();
    assert.deepEqual(await edits[3], { deleted: 5 });
    assert.deepEqual(transport.limitsSent(), [[1], [2, 3], [5]]);
  });

  it('fails only the edit that failed', async () => {
    const { transport, batcher } = setUp();
    const edits = [1, 2, 3, 4].map(async (n) => forget(batcher, n));
    transport.write();
    await edits[0];
    transport.write({ failing: 3 });
    const results = await Promise.allSettled(edits);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
    );
    await assert.rejects(async () => edits[2], VerbFailed);
  });

  it('rejects every edit of a batch that the store could not write, then continues', async () => {
    const { transport, batcher } = setUp();
    const edits = [1, 2, 3].map(async (n) => forget(batcher, n));
    transport.write();
    await edits[0];
    transport.answer({ kind: 'unavailable', message: 'disk full', trace: '' });
    for (const edit of edits.slice(1)) {
      await assert.rejects(edit, { name: 'StoreUnavailable', message: /disk full/ });
    }
    const next = forget(batcher, 4);
    transport.write();
    assert.deepEqual(await next, { deleted: 4 });
  });

  it('rejects every edit of a batch whose transport failed', async () => {
    const { transport, batcher } = setUp();
    const edit = forget(batcher, 1);
    transport.break(new Error('connection lost'));
    await assert.rejects(edit, (error) => {
      assert(error instanceof StoreUnavailable && error.cause instanceof Error);
      assert.equal(error.cause.message, 'connection lost');
      return true;
    });
  });

  it('does not accept a reply that is too short', async () => {
    const { transport, batcher } = setUp();
    const edit = forget(batcher, 1);
    transport.answer({ kind: 'written', settled: [], edits: [], fresh: [], nextWork: quiet });
    await assert.rejects(edit, StoreUnavailable);
  });

  it('closes after the accepted edits, refuses later ones, and closes once', async () => {
    const { transport, batcher } = setUp();
    const edits = [1, 2].map(async (n) => forget(batcher, n));
    const closing = [batcher.close(), batcher.close()];
    await assert.rejects(forget(batcher, 3), StoreUnavailable);
    assert.equal(transport.closed, 0);
    transport.write();
    await edits[0];
    assert.equal(transport.closed, 0);
    transport.write();
    await Promise.all(closing);
    assert.deepEqual(await Promise.all(edits), [{ deleted: 1 }, { deleted: 2 }]);
    assert.equal(transport.closed, 1);
  });
});

describe('publishing', () => {
  it('makes its offer right before the batch, and hands out leased deliveries before any reply', async () => {
    const { transport, batcher, worker, heard } = setUp();
    worker.offers.push(offer(7));
    const edits = ['a', 'b'].map(async (id) =>
      publish(batcher, id).then(() => heard.push(`answered ${id}`)),
    );
    assert.deepEqual(heard, ['offer']);
    assert.deepEqual(transport.sent[0]?.offer, offer(7));
    transport.write({
      fresh: [{ event: 'a', n: 0, appNo: 2, lane: 3, callback: 4, version: 5, concurrency: 6 }],
    });
    await edits[0];
    assert.deepEqual(heard, ['offer', 'take a_0', 'offer', 'answered a']);
    assert.deepEqual(worker.taken, [
      {
        event: 'a',
        n: 0,
        appNo: 2,
        lane: 3,
        callback: 4,
        version: 5,
        concurrency: 6,
        eventName: 'name of a',
        payload: Buffer.from('payload of a'),
        trace: undefined,
        tries: 0,
        attempts: 0,
        lease: 7,
      },
    ]);
    transport.write();
    await edits[1];
  });

  it('finds each payload by its event, even among many', async () => {
    const { transport, batcher, worker } = setUp();
    worker.offers.push(offer(8));
    const first = forget(batcher, 1);
    const second = publish(batcher, 'a', 'b', 'c');
    transport.write();
    await first;
    transport.write({
      fresh: [
        { event: 'c', n: 1, appNo: 2, lane: 3, callback: 4, version: 5, concurrency: 6 },
        { event: 'b', n: 0, appNo: 2, lane: 3, callback: 4, version: 5, concurrency: 6 },
      ],
    });
    await second;
    assert.deepEqual(
      worker.taken.map(({ event, eventName, payload }) => [event, eventName, String(payload)]),
      [
        ['c', 'name of c', 'payload of c'],
        ['b', 'name of b', 'payload of b'],
      ],
    );
  });

  it('asks for no offer when nothing is published, but passes on the next work', async () => {
    const { transport, batcher, worker, heard } = setUp();
    const edit = forget(batcher, 1);
    transport.write({ nextWork: { readyMs: 55, isFanningOut: true } });
    await edit;
    assert.deepEqual(heard, ['take ']);
    assert.deepEqual(worker.nextWorks, [{ readyMs: 55, isFanningOut: true }]);
  });

  it('takes nothing from a batch that failed', async () => {
    const { transport, batcher, heard } = setUp();
    const edits = ['a', 'b'].map(async (id) => publish(batcher, id));
    transport.answer({ kind: 'unavailable', message: 'disk full', trace: '' });
    await assert.rejects(async () => edits[0], StoreUnavailable);
    transport.break(new Error('lost'));
    await assert.rejects(async () => edits[1], StoreUnavailable);
    assert.deepEqual(heard, ['offer', 'offer']);
  });

  it('puts at most batchPayloadBytesMax into a batch, and a larger publish alone', async () => {
    const { transport, batcher } = setUp({ batchPayloadBytesMax: 30 });
    const edits = [
      forget(batcher, 1),
      publish(batcher, 'a'), // 12 bytes each.
      forget(batcher, 2),
      publish(batcher, 'b'),
      publish(batcher, 'c', 'd', 'e'),
      publish(batcher, 'f'),
    ];
    for (const index of [0, 3, 4, 5]) {
      transport.write();
      await edits[index];
    }
    assert.deepEqual(
      transport.sent.map((batch) => batch.edits.length),
      [1, 3, 1, 1],
    );
  });

  it('takes publishes of apps in turn when not all fit, those of one app in order', async () => {
    const { transport, batcher } = setUp({ batchPayloadBytesMax: 30 });
    const edits = [
      forget(batcher, 1),
      ...['a', 'b', 'c', 'd'].map(async (id) => publish(batcher, id)), // 12 bytes each.
      publishAs(batcher, 2, 'x'),
      publishAs(batcher, 2, 'y'),
    ];
    const idsIn = ({ edits: calls }: { edits: readonly EditCall[] }): string =>
      calls.flatMap(({ verb, input }) => (verb === 'publish' ? input.events[0]?.id : [])).join('');
    for (let batch = 0; batch < 4; batch += 1) {
      transport.write();
      await turn();
    }
    await Promise.all(edits);
    assert.deepEqual(transport.sent.map(idsIn), ['', 'ax', 'by', 'cd']);
  });

  it('counts the events of publishes, so that large ones of an app do not delay those of others', async () => {
    const sizes = { batchEditsMax: 8, batchEditsOfAppMax: 4, kinds: 'apart' } as const;
    const { transport, batcher } = setUp(sizes);
    const edits = [
      publish(batcher, '0'),
      ...['a', 'b', 'c', 'd'].map(async (id) => publish(batcher, id, id, id)),
      ...['v', 'w', 'x', 'y', 'z'].map(async (id) => publishAs(batcher, 2, id)),
    ];
    const idsIn = ({ edits: calls }: { edits: readonly EditCall[] }): string =>
      calls.flatMap(({ verb, input }) => (verb === 'publish' ? input.events[0]?.id : [])).join('');
    for (let batch = 0; batch < 4; batch += 1) {
      transport.write();
      await turn();
    }
    await Promise.all(edits);
    assert.deepEqual(transport.sent.map(idsIn), ['0', 'vawxy', 'zb', 'cd']);
  });

  it('refuses a publish at once when payloadBytesWaitingMax are queued, but no other edit', async () => {
    const { transport, batcher } = setUp({ payloadBytesWaitingMax: 25 });
    const first = forget(batcher, 1);
    const waiting = [publish(batcher, 'a'), publish(batcher, 'b')];
    await assert.rejects(publish(batcher, 'c'), {
      name: 'StoreUnavailable',
      message: 'Cannot publish: 24 bytes are already queued',
    });
    const other = forget(batcher, 2);
    transport.write();
    await first;
    const again = publish(batcher, 'd'); // A batch that is being written is no longer queued.
    transport.write();
    await Promise.all([...waiting, other]);
    transport.write();
    await again;
  });
});

describe('work', () => {
  it('submits settlements with a claim and a fan-out, and calls the worker before it replies', async () => {
    const { transport, batcher, worker, heard } = setUp();
    worker.claims.push(offer(1));
    worker.fanOuts.push(offer(2));
    const settling = batcher.settle(settlement('a')).then((settled) => {
      heard.push(`answered ${settled.kind}`);
    });
    assert.deepEqual(heard, ['claim', 'fanOut']);
    assert.deepEqual(transport.worked[0], {
      nowMs: 5,
      settlements: [settlement('a')],
      claim: offer(1),
      fanOut: offer(2),
    });
    transport.finish();
    await settling;
    assert.deepEqual(heard, ['claim', 'fanOut', 'worked true true', 'answered settled']);
  });

  it('runs on request, if the worker takes anything', async () => {
    const { transport, batcher, worker, heard } = setUp();
    worker.claims.push(offer(1));
    batcher.work();
    assert.equal(transport.worked.length, 1);
    transport.finish();
    await turn();
    assert.deepEqual(heard, ['claim', 'fanOut', 'worked true false']);
  });

  it('is skipped when the worker takes nothing, and the next edit is sent at once', async () => {
    const { transport, batcher, heard } = setUp();
    batcher.work();
    assert.equal(transport.worked.length, 0);
    assert.deepEqual(heard, ['claim', 'fanOut']);
    const edit = forget(batcher, 1);
    await turn();
    assert.deepEqual(transport.limitsSent(), [[1]]);
    transport.write();
    await edit;
  });

  it('repeats a request that came while a batch was in flight', async () => {
    const { transport, batcher, worker } = setUp();
    worker.claims.push(offer(1), offer(2));
    batcher.work();
    batcher.work();
    batcher.work();
    transport.finish();
    await turn();
    assert.equal(transport.worked.length, 2);
    transport.finish();
    await turn();
    assert.equal(transport.worked.length, 2);
  });

  it('takes turns with edits when both are queued', async () => {
    const { transport, batcher } = setUp({ batchEditsMax: 1, kinds: 'apart' });
    const edits = [1, 2, 3].map(async (n) => forget(batcher, n));
    const settling = ['a', 'b', 'c'].map(async (id) => batcher.settle(settlement(id)));
    for (let i = 0; i < 3; i += 1) {
      transport.write();
      await turn();
      transport.finish();
      await turn();
    }
    await Promise.all([...edits, ...settling]);
    assert.deepEqual(transport.order, ['write', 'work', 'write', 'work', 'write', 'work']);
  });

  it('accepts any number of settlements', async () => {
    const { transport, batcher } = setUp({ editsWaitingMax: 1 });
    const settling = ['a', 'b', 'c', 'd'].map(async (id) => batcher.settle(settlement(id)));
    transport.finish();
    await turn();
    transport.finish();
    await Promise.all(settling);
    assert.deepEqual(
      transport.worked.map(({ settlements }) => settlements.length),
      [1, 3],
    );
  });

  it('rejects the settlements of failed work, tells the worker, and continues', async () => {
    const { transport, batcher, worker, heard } = setUp();
    worker.claims.push(offer(1), offer(2), offer(3));
    const settling = ['a', 'b'].map(async (id) => batcher.settle(settlement(id)));
    transport.answerWork({ kind: 'unavailable', message: 'disk full', trace: '' });
    await assert.rejects(async () => settling[0], StoreUnavailable);
    transport.break(new Error('lost'));
    await assert.rejects(async () => settling[1], StoreUnavailable);
    assert(!heard.some((what) => what.startsWith('worked')));
    assert.equal(heard.filter((what) => what === 'refused').length, 2);
    const again = batcher.settle(settlement('a'));
    transport.finish();
    assert.deepEqual(await again, { kind: 'settled' });
  });

  it('fails only the settlement that failed', async () => {
    const { transport, batcher, worker } = setUp();
    worker.claims.push(offer(1));
    batcher.work();
    const settling = ['a', 'b'].map(async (id) => batcher.settle(settlement(id)));
    transport.finish();
    await turn();
    transport.answerWork({ kind: 'worked', settled: [poisoned, isSettled], ...nothing });
    await assert.rejects(async () => settling[0], VerbFailed);
    assert.deepEqual(await settling[1], { kind: 'settled' });
  });

  it('does not accept a reply that is too short', async () => {
    const { transport, batcher } = setUp();
    const settling = batcher.settle(settlement('a'));
    transport.answerWork({ kind: 'worked', settled: [], ...nothing });
    await assert.rejects(settling, StoreUnavailable);
  });

  it('works without a worker', async () => {
    const { transport, batcher } = setUp({}, 'without a worker');
    batcher.work();
    const edit = publish(batcher, 'a');
    await turn();
    transport.write();
    await edit;
    assert.equal(transport.sent[0]?.offer, undefined);
    assert.equal(transport.worked.length, 0);
  });

  it('accepts only one worker', () => {
    const { batcher, worker } = setUp();
    assert.throws(() => batcher.attach(worker), { message: /one is already attached/ });
  });

  it('finishes before the store closes, without leasing anything new', async () => {
    const { transport, batcher, worker, heard } = setUp({ kinds: 'apart' });
    worker.claims.push(undefined, offer(2));
    worker.offers.push(undefined, offer(3));
    const settling = ['a', 'b'].map(async (id) => batcher.settle(settlement(id)));
    const edits = ['c', 'd'].map(async (id) => publish(batcher, id));
    const closing = batcher.close();
    batcher.work();
    await assert.rejects(batcher.settle(settlement('e')), StoreUnavailable);
    transport.finish();
    await settling[0];
    transport.write();
    await edits[0];
    assert.equal(transport.closed, 0);
    transport.write();
    transport.finish();
    await Promise.all([...settling, ...edits, closing]);
    assert.equal(transport.closed, 1);
    assert.equal(transport.sent[1]?.offer, undefined);
    assert.equal(transport.worked[1]?.claim, undefined);
    assert.deepEqual(
      heard.filter((what) => !what.startsWith('take') && !what.startsWith('worked')),
      ['claim', 'fanOut', 'offer'],
    );
  });
});

describe('edits and work in separate transactions', () => {
  it('sends outcomes in parallel with a publish, without a claim, which follows next', async () => {
    const { transport, batcher, worker, heard } = setUp({ kinds: 'apart' });
    worker.offers.push(offer(1), offer(3));
    worker.claims.push(offer(2));
    const edits = ['a', 'b'].map(async (id) => publish(batcher, id));
    batcher.work();
    const settling = batcher.settle(settlement('c'));
    assert.deepEqual(transport.order, ['write', 'work']);
    assert.deepEqual(heard, ['offer']);
    transport.write();
    await edits[0];
    assert.deepEqual(transport.order, ['write', 'work'], 'the claim waits, and a publish for it');
    transport.finish();
    await settling;
    assert.deepEqual(transport.worked[1]?.claim, offer(2));
    assert.deepEqual(transport.order, ['write', 'work', 'work']);
    transport.finish();
    await turn();
    assert.deepEqual(transport.order, ['write', 'work', 'work', 'write']);
    transport.write();
    await edits[1];
  });

  it('sends edits in parallel with outcomes, but no publish in parallel with a claim', async () => {
    const { transport, batcher, worker } = setUp({ kinds: 'apart' });
    worker.claims.push(undefined, offer(1));
    const settling = [batcher.settle(settlement('a'))];
    const edits: Promise<unknown>[] = [publish(batcher, 'b')];
    assert.deepEqual(transport.order, ['work', 'write']);
    transport.finish();
    transport.write();
    await Promise.all([...settling, ...edits]);
    settling.push(batcher.settle(settlement('c')));
    edits.push(publish(batcher, 'd'));
    await turn();
    assert.deepEqual(transport.order, ['work', 'write', 'work']);
    transport.finish();
    await turn();
    transport.write();
    await Promise.all([...settling, ...edits]);
  });

  it('has one batch of each kind in flight, and closes after both', async () => {
    const { transport, batcher } = setUp({ kinds: 'apart' });
    const settling = ['a', 'b'].map(async (id) => batcher.settle(settlement(id)));
    const edits = [1, 2].map(async (n) => forget(batcher, n));
    const closing = batcher.close();
    assert.deepEqual(transport.order, ['work', 'write']);
    transport.write();
    await edits[0];
    transport.write();
    await edits[1];
    transport.finish();
    await settling[0];
    assert.equal(transport.closed, 0);
    transport.finish();
    await Promise.all([...settling, closing]);
    assert.deepEqual(transport.order, ['work', 'write', 'write', 'work']);
    assert.equal(transport.closed, 1);
  });
});

describe('edits and work in one transaction', () => {
  it('puts queued outcomes into the next batch of edits', async () => {
    const { transport, batcher, heard } = setUp();
    const edits = [1, 2].map(async (n) => forget(batcher, n));
    const settling = ['a', 'b'].map(async (id) =>
      batcher.settle(settlement(id)).then(({ kind }) => heard.push(`${kind} ${id}`)),
    );
    assert.deepEqual(transport.order, ['write'], 'outcomes wait for it');
    transport.write();
    await edits[0];
    assert.deepEqual(transport.sent[1], {
      nowMs: 5,
      settlements: [settlement('a'), settlement('b')],
      edits: [{ verb: 'forget', input: { idempotencyBeforeMs: 0, limit: 2 } }],
      offer: undefined,
      workOffers: undefined,
    });
    transport.write();
    await Promise.all([...edits, ...settling]);
    assert.deepEqual(heard, ['take ', 'take ', 'settled a', 'settled b']);
    assert.deepEqual(transport.order, ['write', 'write']);
  });

  it('sends outcomes on their own when no edit is queued, and edits in parallel', async () => {
    const { transport, batcher } = setUp();
    const first = forget(batcher, 1);
    const settling = [batcher.settle(settlement('a'))];
    transport.write();
    await first;
    assert.deepEqual(transport.worked[0]?.settlements, [settlement('a')]);
    settling.push(batcher.settle(settlement('b')));
    const second = forget(batcher, 2);
    assert.deepEqual(transport.sent[1]?.settlements, [settlement('b')]);
    transport.write();
    transport.finish();
    await Promise.all([second, ...settling]);
    assert.deepEqual(transport.order, ['write', 'work', 'write']);
  });

  it('claims with the next edits and outcomes, and calls the worker before it replies', async () => {
    const { transport, batcher, worker, heard } = setUp();
    worker.offers.push(offer(1), offer(3));
    worker.claims.push(offer(2));
    worker.fanOuts.push(offer(4));
    const edits = ['a', 'b'].map(async (id) => publish(batcher, id));
    batcher.work();
    const settling = batcher.settle(settlement('c'));
    transport.write();
    await edits[0];
    assert.deepEqual(transport.order, ['write', 'write'], 'it has no turn of its own');
    const [, { edits: calls, ...rest } = assert.fail()] = transport.sent;
    assert.equal(calls.length, 1);
    assert.deepEqual(rest, {
      nowMs: 5,
      settlements: [settlement('c')],
      offer: offer(3),
      workOffers: { claim: offer(2), fanOut: offer(4) },
    });
    heard.length = 0;
    transport.write();
    await Promise.all([edits[1], settling]);
    assert.deepEqual(heard, ['take ', 'worked true true']);
    batcher.work();
    await turn();
    assert.deepEqual(transport.order, ['write', 'write'], 'the worker takes no more');
  });

  /** With an edit in flight, and a claim in the same batch. */
  async function claiming(): Promise<ReturnType<typeof setUp> & { second: Promise<unknown> }> {
    const on = setUp();
    on.worker.claims.push(offer(1));
    const first = forget(on.batcher, 1);
    on.batcher.work();
    const second = forget(on.batcher, 2);
    on.transport.write();
    await first;
    return { ...on, second };
  }

  it('claims with edits that take no leases, and sends no publish in parallel', async () => {
    const { transport, batcher, second } = await claiming();
    assert.deepEqual(transport.sent[1]?.workOffers, { claim: offer(1), fanOut: undefined });
    const third = publish(batcher, 'a');
    await turn();
    assert.deepEqual(transport.order, ['write', 'write']);
    transport.write();
    await second;
    transport.write();
    await third;
  });

  it('stops claiming with edits after a failure, until a claim on its own succeeds', async () => {
    const { transport, batcher, worker } = setUp();
    const failure = { kind: 'unavailable', message: 'a bad sector', trace: '' } as const;
    worker.claims.push(offer(1), offer(2), offer(3), offer(4));
    const edits = [1, 2, 3].map(async (n) => forget(batcher, n));
    batcher.work();
    transport.write();
    await edits[0];
    assert.deepEqual(transport.sent[1]?.workOffers?.claim, offer(1));
    edits.push(forget(batcher, 4));
    transport.answer(failure);
    await assert.rejects(Promise.all(edits), StoreUnavailable);
    transport.write();
    await edits.at(-1);
    for (const then of ['fails', 'goes well'] as const) {
      const [under, next] = [forget(batcher, 5), forget(batcher, 6)];
      batcher.work();
      transport.write();
      await under;
      assert.deepEqual(transport.order.slice(-2), ['write', 'work'], `by itself, and ${then}`);
      if (then === 'fails') transport.answerWork(failure);
      else transport.finish();
      await turn();
      transport.write();
      await next;
    }
    const [under, next] = [forget(batcher, 7), forget(batcher, 8)];
    batcher.work();
    transport.write();
    await under;
    assert.deepEqual(transport.sent.at(-1)?.workOffers?.claim, offer(4), 'with them again');
    transport.write();
    await next;
  });

  const nothingTaken: Record<string, BatchReply> = {
    'the store could not write it': { kind: 'unavailable', message: 'disk full', trace: '' },
    'the reply does not say what was': {
      kind: 'written',
      settled: [],
      edits: [{ kind: 'done', output: { deleted: 2 } }],
      fresh: [],
      nextWork: quiet,
    },
  };
  for (const [why, reply] of Object.entries(nothingTaken)) {
    it(`tells the worker that a batch claimed nothing when ${why}`, async () => {
      const { transport, heard, second } = await claiming();
      heard.length = 0;
      transport.answer(reply);
      await assert.rejects(second, StoreUnavailable);
      assert.deepEqual(heard, ['refused']);
    });
  }

  it('keeps outcomes out of edits that the store refuses, until it accepts some again', async () => {
    const { transport, batcher } = setUp();
    const first = [batcher.settle(settlement('a')), forget(batcher, 1)];
    transport.finish();
    transport.answer({ kind: 'unavailable', message: 'disk full', trace: '' });
    await assert.rejects(async () => first[1], StoreUnavailable);
    const refused = forget(batcher, 2);
    const outcome = batcher.settle(settlement('b'));
    assert.deepEqual(transport.order, ['work', 'write', 'write', 'work'], 'beside each other');
    transport.finish();
    assert.deepEqual(await outcome, { kind: 'settled' });
    transport.answer({ kind: 'unavailable', message: 'disk full', trace: '' });
    await assert.rejects(refused, StoreUnavailable);
    const taken = [forget(batcher, 3), forget(batcher, 4)];
    transport.write();
    await taken[0];
    const [third, fourth] = [batcher.settle(settlement('c')), forget(batcher, 5)];
    transport.write();
    await taken[1];
    assert.deepEqual(transport.sent.at(-1)?.settlements, [settlement('c')]);
    transport.write();
    await Promise.all([first[0], third, fourth]);
  });

  it('takes at most batchEditsMax of each, and reports the size of the batch', async () => {
    const sizes: unknown[] = [];
    const onBatch = ({ kind, size }: BatchFacts): number => sizes.push([kind, size]);
    const { transport, batcher } = setUp({ batchEditsMax: 2, onBatch });
    const edits = [1, 2, 3, 4].map(async (n) => forget(batcher, n));
    const settling = ['a', 'b', 'c'].map(async (id) => batcher.settle(settlement(id)));
    for (const at of [0, 2, 3]) {
      transport.write();
      await edits[at];
    }
    await Promise.all(settling);
    assert.deepEqual(sizes, [
      ['edits', 1],
      ['edits', 4],
      ['edits', 2],
    ]);
  });

  const done: EditReply = { kind: 'done', output: { deleted: 2 } };

  it('fails only the outcome that failed', async () => {
    const { transport, batcher } = setUp();
    const edits = [1, 2].map(async (n) => forget(batcher, n));
    const settling = ['a', 'b'].map(async (id) => batcher.settle(settlement(id)));
    transport.write();
    await edits[0];
    const rest = { edits: [done], fresh: [], nextWork: quiet };
    transport.answer({ kind: 'written', settled: [poisoned, isSettled], ...rest });
    await assert.rejects(async () => settling[0], VerbFailed);
    assert.deepEqual(await Promise.all([settling[1], edits[1]]), [
      { kind: 'settled' },
      { deleted: 2 },
    ]);
  });

  const failures: Record<string, BatchReply> = {
    'that the store could not write': { kind: 'unavailable', message: 'disk full', trace: '' },
    'of which the reply leaves out an outcome': {
      kind: 'written',
      settled: [],
      edits: [done],
      fresh: [],
      nextWork: quiet,
    },
    'of which the reply leaves out an edit': {
      kind: 'written',
      settled: [isSettled],
      edits: [],
      fresh: [],
      nextWork: quiet,
    },
  };
  for (const [what, reply] of Object.entries(failures)) {
    it(`rejects outcomes and edits of a batch ${what}, then continues`, async () => {
      const { transport, batcher } = setUp();
      const first = forget(batcher, 1);
      const both = [batcher.settle(settlement('a')), forget(batcher, 2)];
      transport.write();
      await first;
      transport.answer(reply);
      for (const each of both) await assert.rejects(each, StoreUnavailable);
      const again = batcher.settle(settlement('a'));
      transport.finish();
      assert.deepEqual(await again, { kind: 'settled' });
    });
  }

  it('closes after both', async () => {
    const { transport, batcher, worker } = setUp();
    worker.offers.push(undefined, offer(1));
    const edits = ['a', 'b'].map(async (id) => publish(batcher, id));
    const settling = batcher.settle(settlement('c'));
    const closing = batcher.close();
    transport.write();
    await edits[0];
    assert.deepEqual(transport.sent[1]?.settlements, [settlement('c')]);
    assert.equal(transport.sent[1]?.offer, undefined, 'nothing is leased by then');
    assert.equal(transport.closed, 0);
    transport.write();
    await Promise.all([...edits, settling, closing]);
    assert.equal(transport.closed, 1);
  });
});

/** Any verb would do; `forget` returns the number that it was given. */
async function forget(batcher: Batcher, n: number): Promise<{ deleted: number }> {
  return batcher.edit('forget', { idempotencyBeforeMs: 0, limit: n });
}

async function subscribe(batcher: Batcher, count: number): Promise<unknown> {
  const callbacks = Array.from({ length: count }, (_, position) => {
    const parts = { label: 'a', definition: 'd', method: 'POST', url: 'https://x/' };
    return { ...parts, position, events: ['a'], inactive: undefined };
  });
  const secrets = new Uint8Array();
  const names = { id: 'a', appNo: 1, contract: 'c', operation: 'o' };
  const subscription = { ...names, callbacks, secrets };
  return batcher.edit('subscribe', { subscription, idempotency: undefined });
}

async function publish(batcher: Batcher, ...ids: string[]): Promise<unknown> {
  return publishAs(batcher, 1, ...ids);
}

async function publishAs(batcher: Batcher, appNo: number, ...ids: string[]): Promise<unknown> {
  return batcher.edit('publish', {
    appNo,
    contract: 'Ringback',
    events: ids.map((id) => ({
      id,
      name: `name of ${id}`,
      payload: Buffer.from(`payload of ${id}`),
    })),
    audience: { kind: 'everyone' },
    idempotency: undefined,
  });
}

function settlement(event: string): Settlement {
  return { event, n: 0, lease: 9, outcome: { kind: 'delivered' }, attempt: undefined };
}

function offer(lease: number): Offer {
  return { lease, room: 10, free: new Map(), inFlight: new Map(), laneRoom: 8 };
}

/** Lets all work run that waits for nothing else. */
async function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

interface Sizes {
  batchEditsMax?: number;
  batchEditsOfAppMax?: number;
  editsWaitingMax?: number;
  batchPayloadBytesMax?: number;
  payloadBytesWaitingMax?: number;
  kinds?: 'together' | 'apart';
  pacer?: CreatePacer;
  onBatch?: (batch: BatchFacts) => void;
}

function setUp(options: Sizes = {}, attached?: 'without a worker') {
  const transport = new FakeTransport();
  const clock = { ms: 5 };
  const heard: string[] = [];
  const batcher = createBatcher(transport, {
    nowMs: () => clock.ms,
    batchEditsMax: 100,
    editsWaitingMax: 100,
    batchPayloadBytesMax: 1_000,
    payloadBytesWaitingMax: 1_000,
    ...options,
  });
  const worker = new FakeWorker(heard);
  if (attached === undefined) batcher.attach(worker);
  return { transport, batcher, clock, worker, heard };
}

/** Offers what the test has prepared, and records its calls. */
class FakeWorker implements Worker {
  readonly offers: (Offer | undefined)[] = [];
  readonly claims: (Offer | undefined)[] = [];
  readonly fanOuts: (Offer | undefined)[] = [];
  readonly taken: Parameters<Worker['take']>[0][number][] = [];
  readonly nextWorks: NextWork[] = [];
  readonly #heard: string[];

  constructor(heard: string[]) {
    this.#heard = heard;
  }

  wake(): void {
    this.#heard.push('wake');
  }

  offer(): Offer | undefined {
    this.#heard.push('offer');
    return this.offers.shift();
  }

  take(deliveries: Parameters<Worker['take']>[0], nextWork: NextWork): void {
    this.#heard.push(`take ${deliveries.map(({ event, n }) => `${event}_${n}`).join(' ')}`);
    this.taken.push(...deliveries);
    this.nextWorks.push(nextWork);
  }

  claim(): Offer | undefined {
    this.#heard.push('claim');
    return this.claims.shift();
  }

  fanOut(): Offer | undefined {
    this.#heard.push('fanOut');
    return this.fanOuts.shift();
  }

  refused(): void {
    this.#heard.push('refused');
  }

  worked(...[, asked]: Parameters<Worker['worked']>): void {
    this.#heard.push(`worked ${asked.claim} ${asked.fanOut}`);
  }
}

/** Writes nothing until the test says so. */
interface Flying extends PromiseWithResolvers<BatchReply> {
  batch: Batch;
}

function isPublish({ edits }: Batch): boolean {
  return edits.every(({ verb }) => verb === 'publish');
}

const oneAtATime = 'One batch of a kind at a time';

class FakeTransport implements Transport {
  readonly sent: Batch[] = [];
  readonly worked: Work[] = [];
  readonly order: ('write' | 'work')[] = [];
  /** Batches in transit: a batch is sent when nothing more can join it. */
  left = 0;
  closed = 0;
  /** In the order in which they were sent. */
  readonly #flying: Flying[] = [];
  #working: PromiseWithResolvers<WorkReply> | undefined;

  async send(batch: Batch): Promise<BatchReply> {
    const [first] = this.#flying;
    const isBeside = first !== undefined && isPublish(first.batch) !== isPublish(batch);
    assert(this.#flying.length === 0 || (this.#flying.length === 1 && isBeside), oneAtATime);
    this.sent.push(batch);
    this.order.push('write');
    process.nextTick(() => (this.left += 1));
    const flying = { batch, ...Promise.withResolvers<BatchReply>() };
    this.#flying.push(flying);
    return flying.promise;
  }

  async work(work: Work): Promise<WorkReply> {
    assert(this.#working === undefined, oneAtATime);
    this.worked.push(work);
    this.order.push('work');
    this.#working = Promise.withResolvers();
    return this.#working.promise;
  }

  write({
    failing,
    fresh = [],
    nextWork = quiet,
  }: { failing?: number; fresh?: FreshDelivery[]; nextWork?: NextWork } = {}): void {
    const batch = this.#flying[0]?.batch;
    const settled = batch?.settlements.map(() => isSettled) ?? [];
    const edits = limitsOf(batch).map((limit): EditReply => {
      return limit === failing ? poisoned : { kind: 'done', output: { deleted: limit } };
    });
    const worked = batch?.workOffers === undefined ? {} : { worked: nothing };
    this.answer({ kind: 'written', settled, edits, fresh, nextWork, ...worked });
  }

  /** Replies that every settlement is settled, and nothing else happened. */
  finish(): void {
    const settled = this.worked.at(-1)?.settlements.map(() => isSettled) ?? [];
    this.answerWork({ kind: 'worked', settled, ...nothing });
  }

  answer(reply: BatchReply): void {
    const flying = this.#flying.shift();
    assert(flying !== undefined, 'a batch must be in flight');
    flying.resolve(reply);
  }

  answerWork(reply: WorkReply): void {
    const working = this.#working;
    assert(working !== undefined, 'work must be in flight');
    this.#working = undefined;
    working.resolve(reply);
  }

  break(error: Error): void {
    const under = this.#flying.shift() ?? this.#working;
    this.#working = undefined;
    under?.reject(error);
  }

  limitsSent(): number[][] {
    return this.sent.map(limitsOf);
  }

  async read(): Promise<never> {
    throw new Error('not used here');
  }

  async close(): Promise<void> {
    this.closed += 1;
  }
}

function nameOf(call: EditCall): string | number {
  if (call.verb === 'publish') return call.input.events[0]?.id ?? '';
  return call.verb === 'forget' ? call.input.limit : call.verb;
}

function limitsOf(batch: Batch | undefined): number[] {
  return (batch?.edits ?? []).map((call) => (call.verb === 'forget' ? call.input.limit : -1));
}
