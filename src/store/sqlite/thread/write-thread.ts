// The entry of the write thread.
import type { StoreFailure } from '../../port/transport-protocol.ts';
import type { Born } from '../../port/delivery-verbs.ts';
import { openSqlite, type SqliteOptions } from '../batch/adapter.ts';
import { answerParent, type Answering } from './answering.ts';
import { packForetold, packWritten, unpackBatch, type Parcel } from './codec.ts';

export type WriteQuestion = Parcel;
export type WriteAnswer = { kind: 'written'; parcel: Parcel } | StoreFailure;
/** Sent before the reply: deliveries that will be inserted leased, if the batch commits. */
export type Foretold = Parcel;

answerParent((options: SqliteOptions): Answering<WriteQuestion, WriteAnswer, Foretold> => {
  const sqlite = openSqlite(options);
  return {
    answer: (parcel, ahead) => {
      let foretold: readonly Born[] | undefined;
      const reply = sqlite.run(unpackBatch(parcel), (born) => {
        if (born.length === 0) return;
        foretold = born;
        ahead(packForetold(born));
      });
      if (reply.kind !== 'written') return reply;
      return { kind: 'written', parcel: packWritten(reply, foretold) };
    },
    close: sqlite.close,
  };
});
