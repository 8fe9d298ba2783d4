// Reads that deliveries and requests wait for, each of a row or a few. No number of lists may stop them.
import type { ReadVerb } from './store.ts';

export const hotReads: ReadonlySet<ReadVerb> = new Set([
  'targets',
  'key',
  'session',
  'health',
  'app',
  'event',
]);
