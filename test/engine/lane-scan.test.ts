// The lane scan walks through more lanes and subscriptions than one statement reads, and rests in
// between.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { createLaneScanner } from '../../src/engine/upkeep/lane-scan.ts';
import type { Store } from '../../src/store/port/store.ts';
import { openMemory, type Opened } from '../store/open-memory.ts';

const most = limits.laneScanRowsMax;

/** One lane per subscription; the last one is held and has a pending delivery. */
function filled(count: number): Opened {
  const opened = openMemory();
  opened.db.exec(`
    insert into app (id, name, created_ms) values ('${'0'.repeat(26)}', 'app', 1);
    with recursive g (i) as (select 1 union all select i + 1 from g where i < ${count})
      insert into subscription (id, app, contract, operation, secrets, version, created_ms)
      select printf('%026d', i), 1, 'c', 'o', x'00', 1, 1 from g;
    insert into lane (app, subscription, ready_ms) select 1, no, 1 from subscription;
    update lane set state = 1, ready_ms = 9007199254740991 where no = ${count};
    update subscription set state = 'paused' where no = ${count};
    insert into delivery_live (event, n, app, lane, callback, due_ms, slice)
      values ('e', 0, 1, ${count}, 1, 7, 1), ('e', 1, 1, 1, 1, 9, 1), ('e', 2, 1, 1, 1, 8, 1);`);
  return opened;
}

function censorOver({ read, clock }: Opened): {
  censor: ReturnType<typeof createLaneScanner>;
  asked: () => number;
  pass: (ms: number) => void;
} {
  let asked = 0;
  let nowMs = 0;
  const store: Pick<Store, 'read' | 'nowMs'> = {
    read: async (verb, input) => {
      asked += 1;
      nowMs += 10; // Each statement takes time.
      return read(verb, input);
    },
    nowMs: () => clock.ms,
  };
  const censor = createLaneScanner({ world: { monotonicMs: () => nowMs }, store });
  return {
    censor,
    asked: () => asked,
    pass: (ms) => {
      nowMs += ms;
    },
  };
}

describe('createLaneScanner', () => {
  for (const count of [most - 1, most, most + 1]) {
    it(`adds up the steps over ${count} lanes`, async () => {
      const { censor } = censorOver(filled(count));
      const { lanes, subscriptions } = await censor.take();
      assert.deepEqual([lanes.open, lanes.held], [count - 1, 1]);
      assert.deepEqual([lanes.oldestDueMs, lanes.oldestReadyMs], [7, 8]);
      assert.deepEqual(subscriptions, {
        unconfirmed: 0,
        active: count - 1,
        paused: 1,
        disabled: 0,
      });
    });
  }

  it('counts due deliveries behind any number that are not due', async () => {
    const opened = filled(3);
    const live = 'insert into delivery_live (event, n, app, lane, callback, due_ms, slice, lease)';
    const add = (lane: number, rows: number, due: string, lease = 'null'): void =>
      opened.db.exec(`
        with recursive g (i) as (select 1 union all select i + 1 from g where i < ${rows})
          ${live} select ${lane} || ' ' || ${due} || ' ' || i, 0, 1, ${lane}, 1, ${due}, 1, ${lease} from g`);
    add(1, limits.dueCountedMax + 1, `${opened.clock.ms + 1}`);
    add(2, 500, `${opened.clock.ms}`);
    add(2, 7, '5', '1'); // Running deliveries.
    const count = async (): Promise<number> => (await censorOver(opened).censor.take()).lanes.due;
    assert.equal(await count(), 503);
    add(3, limits.dueCountedMax, '9');
    assert.equal(await count(), limits.dueCountedMax, 'up to there');
  });

  it('counts due deliveries over all steps', async () => {
    const opened = filled(most + 5);
    opened.db.exec(`
      insert into delivery_live (event, n, app, lane, callback, due_ms, slice)
      select printf('%026d', no), 0, 1, no, 1, 7, 1 from lane;`);
    const { lanes } = await censorOver(opened).censor.take();
    assert.equal(lanes.due, most + 5 + 3);
  });

  it('runs one scan for all concurrent callers, then rests for a multiple of its time', async () => {
    const { censor, asked, pass } = censorOver(filled(1));
    assert.equal(censor.last(), undefined);
    const [first, second] = await Promise.all([censor.take(), censor.take()]);
    assert.equal(first, second);
    assert.equal(asked(), 2);
    pass(20 * limits.laneScanRestTimes - 1);
    assert.equal(await censor.take(), first);
    pass(1);
    assert.notEqual(await censor.take(), first);
    assert.equal(asked(), 4);
  });

  it('starts over after the store has failed', async () => {
    const { read, clock } = filled(1);
    let isDown = true;
    const store: Pick<Store, 'read' | 'nowMs'> = {
      read: async (verb, input) => {
        if (isDown) throw new Error('down');
        return read(verb, input);
      },
      nowMs: () => clock.ms,
    };
    const censor = createLaneScanner({ world: { monotonicMs: () => 0 }, store });
    await assert.rejects(censor.take(), /down/);
    isDown = false;
    assert.equal((await censor.take()).lanes.held, 1);
  });
});
