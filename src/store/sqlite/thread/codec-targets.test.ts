import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { noControls } from '../../../core/domain/controls.ts';
import type { Target } from '../../port/delivery-verbs.ts';
import { packTargets, unpackTargets } from './codec.ts';

function target(about: Partial<Target>): Target {
  return {
    callback: 1,
    lane: 2,
    version: 3,
    isActive: true,
    subscription: 's',
    appNo: 4,
    appId: 'a',
    contract: 'c',
    operation: 'o',
    definition: 'd',
    method: 'post',
    url: 'https://receiver.example/',
    secrets: new Uint8Array([1, 2]),
    controls: noControls,
    headers: undefined,
    ...about,
  };
}

function arrived(targets: readonly Target[]): Target[] {
  return unpackTargets(structuredClone(packTargets(targets)));
}

describe('targets', () => {
  it('arrive unchanged', () => {
    const targets = [
      target({}),
      target({ isActive: false, headers: new Uint8Array([3]) }),
      target({ controls: { ...noControls, ordered: true } }),
      target({ controls: { ...noControls, timeoutMs: 5, filter: { '/a': ['b'] } } }),
    ];
    assert.deepStrictEqual(arrived(targets), targets);
    assert.deepStrictEqual(arrived([]), []);
  });

  it('do not retain the bytes of each other', () => {
    const [first] = arrived([target({}), target({ secrets: new Uint8Array(1_000) })]);
    assert.equal(first?.secrets.buffer.byteLength, 2);
  });
});
