// Edits that wait for their batch, in order, bounded by number and by the bytes of their payloads.
import type { EditCall, EditReply } from './call.ts';
import { StoreUnavailable } from './store.ts';

export interface QueueLimits {
  batchEditsMax: number;
  editsWaitingMax: number;
  batchPayloadBytesMax: number;
  payloadBytesWaitingMax: number;
}

export interface WaitingEdit {
  call: EditCall;
  answer(reply: EditReply): void;
  refuse(error: Error): void;
}

export interface EditQueue {
  isEmpty(): boolean;
  /** Throws StoreUnavailable when too much waits already. */
  push(edit: WaitingEdit): void;
  /** The next batch: at least one, if there is one. */
  take(): WaitingEdit[];
}

export function createEditQueue(limits: QueueLimits): EditQueue {
  const { batchEditsMax, editsWaitingMax, batchPayloadBytesMax, payloadBytesWaitingMax } = limits;
  const waiting: { edit: WaitingEdit; bytes: number }[] = [];
  let bytesWaiting = 0;
  return {
    isEmpty: () => waiting.length === 0,
    push: (edit) => {
      const bytes = payloadBytes(edit.call);
      if (waiting.length >= editsWaitingMax && !isVital(edit.call)) {
        throw new StoreUnavailable(`Cannot edit: ${waiting.length} edits are waiting already`);
      }
      if (bytes > 0 && bytesWaiting > 0 && bytesWaiting + bytes > payloadBytesWaitingMax) {
        throw new StoreUnavailable(`Cannot publish: ${bytesWaiting} bytes are waiting already`);
      }
      waiting.push({ edit, bytes });
      bytesWaiting += bytes;
    },
    take: () => {
      let count = 0;
      let bytesTaken = 0;
      for (const { bytes } of waiting) {
        const isTooMuch = bytesTaken + bytes > batchPayloadBytesMax;
        if (count === batchEditsMax || (count > 0 && bytes > 0 && isTooMuch)) break;
        count += 1;
        bytesTaken += bytes;
      }
      bytesWaiting -= bytesTaken;
      return waiting.splice(0, count).map(({ edit }) => edit);
    },
  };
}

/** A node that cannot say that it is there, because much waits, would be taken for dead. */
function isVital({ verb }: EditCall): boolean {
  return verb === 'heartbeat' || verb === 'startNode' || verb === 'stopNode';
}

function payloadBytes(call: EditCall): number {
  if (call.verb !== 'publish') return 0;
  return call.input.events.reduce((sum, { payload }) => sum + payload.byteLength, 0);
}
