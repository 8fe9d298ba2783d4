import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import type { Link } from './linked-list.ts';
import { LinkedList } from './linked-list.ts';

interface Item extends Link<Item> {
  readonly name: number;
}

function namesOf(list: LinkedList<Item>): number[] {
  const names: number[] = [];
  for (let item = list.first; item !== undefined; item = item.after) names.push(item.name);
  return names;
}

describe('LinkedList', () => {
  it('behaves like a Set', () => {
    const steps = fc.array(fc.tuple(fc.boolean(), fc.nat({ max: 7 })), { maxLength: 60 });
    const property = fc.property(steps, (all) => {
      const items: Item[] = Array.from({ length: 8 }, (_, name) => ({
        name,
        before: undefined,
        after: undefined,
      }));
      const list = new LinkedList<Item>();
      const model = new Set<number>();
      for (const [isAdded, name] of all) {
        const item = items[name];
        assert(item !== undefined);
        if (!isAdded) {
          assert.equal(list.remove(item), model.delete(name));
          assert.equal(item.before ?? item.after, undefined);
        } else if (!model.has(name)) {
          list.add(item);
          model.add(name);
        }
        assert.deepEqual(namesOf(list), [...model]);
        assert.equal(list.size, model.size);
      }
    });
    fc.assert(property);
  });
});
