// Generators for random commands, shared by the model test and the comparison of both databases.
import type { Filter } from '../../src/core/domain/filter.ts';
import { fc } from '../fast-check.ts';

export const outcome = fc.constantFrom(
  'delivered',
  'retry',
  'retry',
  'dead',
  'gone',
  'cancelled',
  'released',
);
export const name = fc.constantFrom('a', 'a.b', 'c', 'ringback.ping');
export const pattern = fc.constantFrom('*', 'a', 'a.*', 'c');
export const who = fc.nat(6);
export const which = fc.nat(40);
export const room = fc.nat(5);

/** Each filter matches some of the payloads, which contain their index in the publish. */
const filter = fc.constantFrom<Filter>(
  { '/of': [0] },
  { '/of': [1, 'x', null] },
  { '/name': ['a', 'c'] },
  { '/of': [0, 1, 2], '/list/0': [true] },
  { '/missing': [null] },
);

/** Lane settings, mostly the defaults. Rates whose intervals are whole milliseconds. */
export const chosen = {
  ordered: fc.constantFrom(false, false, true),
  rate: fc.constantFrom(undefined, undefined, 4, 0.4),
  concurrency: fc.constantFrom(undefined, undefined, 1, 2),
  filter: fc.oneof(
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: filter },
  ),
};
