// The entry of the write thread.
import type { StoreFailure } from '../../port/transport-protocol.ts';
import type { FreshDelivery } from '../../port/delivery-verbs.ts';
import { openSqlite, type SqliteOptions } from '../batch/adapter.ts';
import { answerParent, type Answering } from './message-loop.ts';
import { packAnnounced, packWritten, unpackBatch, type Parcel } from './codec.ts';

export type WriteQuestion = Parcel;
export type WriteAnswer = { kind: 'written'; parcel: Parcel } | StoreFailure;
/** Sent before the reply: deliveries that will be inserted leased, if the batch commits. */
export type Announced = Parcel;

answerParent((options: SqliteOptions): Answering<WriteQuestion, WriteAnswer, Announced> => {
  const sqlite = openSqlite(options);
  return {
    answer: (parcel, ahead) => {
      let announced: readonly FreshDelivery[] | undefined;
      const reply = sqlite.run(unpackBatch(parcel), (fresh) => {
        if (fresh.length === 0) return;
        announced = fresh;
        ahead(packAnnounced(fresh));
      });
      if (reply.kind !== 'written') return reply;
      return { kind: 'written', parcel: packWritten(reply, announced) };
    },
    close: sqlite.close,
  };
});
