import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { Batcher } from './batcher.ts';
import { createBatcher } from './batcher.ts';
import type { Batch, BatchReply, EditReply, Transport } from './call.ts';
import { StoreUnavailable, VerbFailed } from './store.ts';

describe('createBatcher', () => {
  it('sends a lone edit at once', async () => {
    const { transport, batcher } = setUp();
    const edit = forget(batcher, 1);
    assert.deepEqual(transport.limitsSent(), [[1]]);
    transport.write();
    assert.deepEqual(await edit, { deleted: 1 });
  });

  it('gathers while a batch is being written, one in flight at a time', async () => {
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

  it('stamps each batch with the time it is sent', async () => {
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

  it('refuses at once when editsWaitingMax wait, and takes more when there is room', async () => {
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

  it('rejects every edit of a batch that the store could not write, then goes on', async () => {
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

  it('rejects every edit of a batch whose way to the store broke', async () => {
    const { transport, batcher } = setUp();
    const edit = forget(batcher, 1);
    transport.break(new Error('connection lost'));
    await assert.rejects(edit, (error) => {
      assert(error instanceof StoreUnavailable && error.cause instanceof Error);
      assert.equal(error.cause.message, 'connection lost');
      return true;
    });
  });

  it('does not take a reply that is too short for an answer', async () => {
    const { transport, batcher } = setUp();
    const edit = forget(batcher, 1);
    transport.answer({ kind: 'written', edits: [] });
    await assert.rejects(edit, StoreUnavailable);
  });

  it('closes after the edits that it took, refuses later ones, and closes once', async () => {
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

/** Any verb would do; `forget` carries a number there and back. */
async function forget(batcher: Batcher, n: number): Promise<{ deleted: number }> {
  return batcher.edit('forget', { idempotencyBeforeMs: 0, limit: n });
}

function setUp(options: { batchEditsMax?: number; editsWaitingMax?: number } = {}) {
  const transport = new FakeTransport();
  const clock = { ms: 5 };
  const batcher = createBatcher(transport, {
    nowMs: () => clock.ms,
    batchEditsMax: 100,
    editsWaitingMax: 100,
    ...options,
  });
  return { transport, batcher, clock };
}

/** Writes nothing until the test says so. */
class FakeTransport implements Transport {
  readonly sent: Batch[] = [];
  closed = 0;
  #flying: PromiseWithResolvers<BatchReply> | undefined;

  async send(batch: Batch): Promise<BatchReply> {
    assert.equal(this.#flying, undefined, 'one batch in flight at a time');
    this.sent.push(batch);
    this.#flying = Promise.withResolvers();
    return this.#flying.promise;
  }

  write({ failing }: { failing?: number } = {}): void {
    const edits = limitsOf(this.sent.at(-1)).map((limit): EditReply => {
      if (limit === failing) return { kind: 'failed', message: 'poison', trace: '' };
      return { kind: 'done', output: { deleted: limit } };
    });
    this.answer({ kind: 'written', edits });
  }

  answer(reply: BatchReply): void {
    this.#land().resolve(reply);
  }

  break(error: Error): void {
    this.#land().reject(error);
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

  #land(): PromiseWithResolvers<BatchReply> {
    const flying = this.#flying;
    assert(flying !== undefined, 'a batch must be in flight');
    this.#flying = undefined;
    return flying;
  }
}

function limitsOf(batch: Batch | undefined): number[] {
  return (batch?.edits ?? []).map((call) => (call.verb === 'forget' ? call.input.limit : -1));
}
