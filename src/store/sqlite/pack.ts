// Bytes on their way to a thread. A view ships its whole underlying memory, often a pool or a request's
// body, so all bytes of a message are put into one buffer that changes hands without a copy.
import type { Batch } from '../call.ts';
import type { Settlement, Work } from '../delivery-verbs.ts';

export interface Packed<T> {
  message: T;
  transfer: readonly ArrayBuffer[];
}

export function packBatch(batch: Batch): Packed<Batch> {
  const publishes = batch.edits.flatMap((call) => (call.verb === 'publish' ? [call.input] : []));
  if (publishes.length === 0) return { message: batch, transfer: [] };
  const box = boxFor(publishes.flatMap(({ events }) => events.map(({ payload }) => payload)));
  const edits = batch.edits.map((call) => {
    if (call.verb !== 'publish') return call;
    const events = call.input.events.map((event) => ({
      ...event,
      payload: box.put(event.payload),
    }));
    return { ...call, input: { ...call.input, events } };
  });
  return { message: { ...batch, edits }, transfer: [box.buffer] };
}

export function packWork(work: Work): Packed<Work> {
  const bodies = work.settlements.flatMap(({ attempt }) => attempt?.response?.body ?? []);
  if (bodies.length === 0) return { message: work, transfer: [] };
  const box = boxFor(bodies);
  const settlements = work.settlements.map((settlement): Settlement => {
    const { attempt } = settlement;
    if (attempt?.response === undefined) return settlement;
    const response = { ...attempt.response, body: box.put(attempt.response.body) };
    return { ...settlement, attempt: { ...attempt, response } };
  });
  return { message: { ...work, settlements }, transfer: [box.buffer] };
}

interface Box {
  buffer: ArrayBuffer;
  put(bytes: Uint8Array): Uint8Array;
}

function boxFor(all: readonly Uint8Array[]): Box {
  const buffer = new ArrayBuffer(all.reduce((sum, { byteLength }) => sum + byteLength, 0));
  const whole = new Uint8Array(buffer);
  let at = 0;
  return {
    buffer,
    put: (bytes) => {
      whole.set(bytes, at);
      at += bytes.byteLength;
      return whole.subarray(at - bytes.byteLength, at);
    },
  };
}
