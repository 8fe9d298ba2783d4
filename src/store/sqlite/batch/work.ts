// Treats work as a batch without edits, so that the writer has one code path.
import { strict as assert } from 'node:assert';
import type { Batch, BatchReply, WorkReply } from '../../port/transport-protocol.ts';
import type { Work } from '../../port/delivery-verbs.ts';

export function asBatch({ nowMs, settlements, claim, fanOut }: Work): Batch {
  return { nowMs, settlements, edits: [], offer: undefined, takeUp: { claim, fanOut } };
}

export function asWorkReply(reply: BatchReply): WorkReply {
  if (reply.kind !== 'written') return reply;
  assert(reply.worked !== undefined, 'Work was answered as if it had taken up nothing');
  return { kind: 'worked', settled: reply.settled, ...reply.worked };
}
