import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ReadCall, ReadReply } from '../../port/transport-protocol.ts';
import type { SqliteReader } from '../batch/reader.ts';
import { createReadTurns, type ReadTurns } from './read-turns.ts';

interface Stage {
  turns: ReadTurns;
  /** Names of reads, in the order of their statements and of their replies. */
  statements: string[];
  answered: string[];
  ask: (app: number, name: string, statements: number) => Promise<void>;
}

/** Readers that run as many statements as a call says. */
function stage(count: number): Stage {
  const [statements, answered]: [string[], string[]] = [[], []];
  const reader = (): Pick<SqliteReader, 'readInSteps'> => {
    let isBusy = false;
    return {
      *readInSteps({ input }) {
        assert.ok(!isBusy, 'a connection reads one thing at a time');
        isBusy = true;
        const { name, most } = input as unknown as { name: string; most: number };
        for (let n = 0; n < most; n += 1) {
          statements.push(name);
          yield undefined;
        }
        isBusy = false;
        return { kind: 'done', output: name } as unknown as ReadReply;
      },
    };
  };
  const turns = createReadTurns(Array.from({ length: count }, reader), async () => turn());
  return {
    turns,
    statements,
    answered,
    ask: async (app, name, most) => {
      const input = { appNo: app, name, most };
      await turns.read({ verb: 'deliveries', input } as unknown as ReadCall);
      answered.push(name);
    },
  };
}

describe('createReadTurns', () => {
  it('answers a short read of another app before a backlog of 200 long ones', async () => {
    const { ask, answered } = stage(3);
    const asked = Array.from({ length: 200 }, async (_, n) => ask(1, `a${n}`, 20));
    await Promise.all([...asked, ask(2, 'b', 2)]);
    assert.deepEqual(answered.slice(0, 3), ['b', 'a0', 'a1']);
  });

  it('runs one read of an app at a time, in the order of the calls', async () => {
    const { ask, statements } = stage(3);
    await Promise.all([ask(1, 'a', 2), ask(1, 'b', 2), ask(1, 'c', 2)]);
    assert.deepEqual(statements, ['a', 'a', 'b', 'b', 'c', 'c']);
  });

  it('serves more apps than there are connections', async () => {
    const { ask, answered } = stage(2);
    const apps = [1, 2, 3, 4];
    await Promise.all(
      apps.flatMap((app) => [ask(app, `${app} first`, 3), ask(app, `${app} second`, 3)]),
    );
    const firsts = answered.slice(0, 4).toSorted();
    assert.deepEqual(
      firsts,
      apps.map((app) => `${app} first`),
    );
  });

  it('is drained when all reads are answered', async () => {
    const { ask, answered, turns } = stage(1);
    const asked = [ask(1, 'a', 2), ask(2, 'b', 2), ask(1, 'c', 2)];
    await turns.drained();
    await Promise.all(asked);
    assert.deepEqual(answered, ['a', 'b', 'c']);
  });
});
