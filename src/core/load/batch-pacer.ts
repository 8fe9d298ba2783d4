// Decides when batches are sent to the store, and when their results are handed out: that starts
// deliveries and resolves edits.
import { atEndOfTurn } from '../base/end-of-turn.ts';

export type HandOut = (body: () => void) => void;

export interface BatchPacer {
  /** Asks to send a batch soon: there is work, or the store is free again. */
  requestSend(): void;
  handOut: HandOut;
}

/** Creates a pacer; `send` sends the batch. */
export type CreatePacer = (send: () => void) => BatchPacer;

export function sendAtOnce(send: () => void): BatchPacer {
  return { requestSend: send, handOut: (body) => body() };
}

/**
 * For a database over the network, where a batch of one row costs nearly as much as one of thirty.
 * The batch is sent when a whole turn of the event loop added nothing, when it is large, or after
 * some turns. So clients that were just answered and publish again share the batch; otherwise one
 * publish often goes alone and the rest wait for it. The turn must be whole: the one in which the
 * first item arrived does not count. docs/performance.md has the figures, and those of SQLite,
 * where batches are cheap and waiting does not pay off.
 */
export function sendWhenQuiet(atEnd: (body: () => void) => void = atEndOfTurn): CreatePacer {
  return (send) => {
    let asked = 0;
    let askedBefore = 0;
    let turns = 0;
    const check = (): void => {
      turns += 1;
      const isQuiet = asked === askedBefore;
      if (isQuiet || asked >= quietLimits.askedMax || turns > quietLimits.turnsMax) {
        asked = 0;
        send();
      } else {
        askedBefore = asked;
        atEnd(check);
      }
    };
    const requestSend = (): void => {
      asked += 1;
      if (asked > 1) return;
      askedBefore = 0; // The rest of this turn may still add work.
      turns = 0;
      atEnd(check);
    };
    return { requestSend, handOut: (body) => body() };
  };
}

const quietLimits = { askedMax: 128, turnsMax: 16 } as const;

/**
 * For a store on a thread of its own. Everything that one turn of the event loop added is sent
 * together at its end, before any results are handed out: reading requests is quick, handing out
 * results is slow, and the thread writes meanwhile. Otherwise the first publish of a turn is sent
 * alone, and all others wait for its fsync. docs/performance.md has the figures of this and its
 * alternatives.
 */
export function sendEachTurn(atEnd: (body: () => void) => void = atEndOfTurn): CreatePacer {
  return (send) => {
    let isAsked = false;
    const requestSend = (): void => {
      if (isAsked) return;
      isAsked = true;
      atEnd(() => {
        isAsked = false;
        send();
      });
    };
    const handOut: HandOut = (body) => {
      requestSend();
      atEnd(body);
    };
    return { requestSend, handOut };
  };
}
