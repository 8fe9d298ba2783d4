import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FairQueue } from './fair-queue.ts';

function drain(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  for (let next = queue.take(always); next !== undefined; next = queue.take(always)) {
    taken.push(next.item);
  }
  return taken;
}

function always(): boolean {
  return true;
}

describe('FairQueue', () => {
  it('yields one item of each app in turn, each app in order', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queue.add(item.charCodeAt(0), item);
    assert.equal(queue.size, 6);
    assert.deepEqual(drain(queue), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
    assert.equal(queue.size, 0);
  });

  it('queues a later app behind the waiting apps, not behind all their items', () => {
    const queue = new FairQueue<string>();
    for (let n = 0; n < 200; n += 1) queue.add(1, `a${n}`);
    queue.take(always);
    queue.add(2, 'b');
    assert.deepEqual(drain(queue).slice(0, 2), ['a1', 'b']);
  });

  it('removes an item, and its app with the last one', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a1', 'a2', 'b1']) queue.add(item.charCodeAt(0), item);
    queue.remove('a'.charCodeAt(0), 'a1');
    queue.remove('b'.charCodeAt(0), 'b1');
    queue.remove('b'.charCodeAt(0), 'b1');
    assert.equal(queue.size, 1);
    assert.deepEqual(drain(queue), ['a2']);
  });

  it('lets other apps go first before an app that has just had a turn', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a', 'b']) queue.add(item.charCodeAt(0), item);
    queue.letOthersFirst('a'.charCodeAt(0));
    assert.deepEqual(drain(queue), ['b', 'a']);
  });

  it('skips apps that are not eligible, and keeps their turn', () => {
    const queue = new FairQueue<string>();
    queue.add(1, 'a');
    queue.add(undefined, 'own');
    assert.deepEqual(
      queue.take((app) => app !== 1),
      { app: undefined, item: 'own' },
    );
    assert.equal(
      queue.take((app) => app !== 1),
      undefined,
    );
    assert.deepEqual(drain(queue), ['a']);
  });
});
