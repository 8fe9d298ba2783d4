// Reads that deliveries and requests wait for, each of one or a few rows. Lists must never delay
// them.
import type { ReadVerb } from './store.ts';

export const hotReads: ReadonlySet<ReadVerb> = new Set([
  'targets',
  'key',
  'session',
  'health',
  'app',
  'event',
]);
