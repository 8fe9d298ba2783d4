// What random commands are made of, for the model and for the two databases side by side.
import fc from 'fast-check';

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

/** What makes lanes differ: mostly nothing. The intervals are whole numbers of milliseconds. */
export const chosen = {
  ordered: fc.constantFrom(false, false, true),
  rate: fc.constantFrom(undefined, undefined, 4, 0.4),
  concurrency: fc.constantFrom(undefined, undefined, 1, 2),
};
