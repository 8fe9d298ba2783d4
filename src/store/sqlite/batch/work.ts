// Treats work as a batch without edits, so that the writer has one code path. Apart from write.ts, so that the main
// thread does not load what only the writer thread needs.
import { strict as assert } from 'node:assert';
import type { Work } from '../../port/delivery-verbs.ts';
import type { Batch, BatchReply, WorkReply } from '../../port/transport-protocol.ts';

export function asBatch({ nowMs, settlements, claim, fanOut }: Work): Batch {
  return { nowMs, settlements, edits: [], offer: undefined, takeUp: { claim, fanOut } };
}

export function asWorkReply(reply: BatchReply): WorkReply {
  if (reply.kind !== 'written') return reply;
  assert(reply.worked !== undefined, 'The reply to work lacks what was claimed');
  return { kind: 'worked', settled: reply.settled, ...reply.worked };
}
