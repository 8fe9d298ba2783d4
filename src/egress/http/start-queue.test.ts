import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { StartQueue } from './start-queue.ts';

describe('StartQueue', () => {
  it('builds all requests of a turn before it writes the first', async () => {
    const queue = new StartQueue();
    const steps: string[] = [];
    const add = (name: string, onBuild?: () => void): void => {
      queue.add({
        build: () => {
          steps.push(`build ${name}`);
          onBuild?.();
        },
        write: () => steps.push(`write ${name}`),
      });
    };
    add('a', () => add('c'));
    add('b');
    assert.deepEqual(steps, []);
    await turn();
    assert.deepEqual(steps, ['build a', 'build b', 'write a', 'write b', 'build c', 'write c']);
  });
});
