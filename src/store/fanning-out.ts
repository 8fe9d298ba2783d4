// The patterns of a large fan-out, as its row keeps them.
import { strict as assert } from 'node:assert';

export function toNames(json: string): string[] {
  const names: unknown = JSON.parse(json);
  assert(Array.isArray(names), 'Cannot read a fan-out: its names are no list');
  return names.map((name: unknown) => {
    assert(typeof name === 'string', 'Cannot read a fan-out: a name is no text');
    return name;
  });
}
