// A dispatcher that the test controls: it offers room on demand, and shows the deliveries that it got.
import { strict as assert } from 'node:assert';
import type { Leased } from '../../src/core/domain/delivery.ts';
import type { Offer, NextWork, Worked } from '../../src/store/port/delivery-verbs.ts';
import type { EditInput, EditOutput, Store } from '../../src/store/port/store.ts';

export interface Room extends Pick<Offer, 'apps' | 'appRoom' | 'unproven'> {
  room: number;
  laneRoom?: number;
  /** Free slots by lane. */
  free?: [lane: number, slots: number][];
  /** Deliveries in flight on this node, by lane. */
  inFlight?: [lane: number, running: number][];
  /** The limit of callbacks per step. */
  stepMax?: number;
}

export interface TestDispatcher {
  nextWorks: NextWork[];
  /** The results of the cycles of work. */
  works: Worked[];
  /** Publishes with room for fresh deliveries; returns those it had at the time of the response. */
  publish: (room: Room, input: EditInput<'publish'>) => Promise<Published>;
  claim: (room: Room) => Promise<Worked>;
  fanOut: (room: Room) => Promise<Worked>;
}

export interface Published {
  output: EditOutput<'publish'>;
  fresh: Leased[];
}

export function attachDispatcher(store: Store): TestDispatcher {
  let leases = 0; // Leases of no node, which a start releases.
  let taken: Leased[] = [];
  let worked = awaited();
  const offers: Record<'fresh' | 'claim' | 'fanOut', Offer | undefined> = {
    fresh: undefined,
    claim: undefined,
    fanOut: undefined,
  };
  const nextWorks: NextWork[] = [];
  const works: Worked[] = [];
  const toOffer = ({ laneRoom = 8, free = [], inFlight = [], ...rest }: Room): Offer => {
    leases += 1;
    return { lease: leases, laneRoom, free: new Map(free), inFlight: new Map(inFlight), ...rest };
  };
  const once = (what: 'claim' | 'fanOut'): Offer | undefined => {
    const offer = offers[what];
    offers[what] = undefined;
    return offer;
  };
  store.attach({
    offer: () => offers.fresh,
    take: (deliveries, nextWork) => {
      taken.push(...deliveries);
      nextWorks.push(nextWork);
    },
    claim: () => once('claim'),
    fanOut: () => once('fanOut'),
    wake: () => undefined,
    refused: () => worked.reject(new Error('the store failed')),
    worked: (one) => {
      works.push(one);
      worked.resolve(one);
    },
  });
  const cycle = async (): Promise<Worked> => {
    worked = awaited();
    store.work();
    return worked.promise;
  };
  return {
    nextWorks,
    works,
    publish: async (room, input) => {
      taken = [];
      offers.fresh = toOffer(room);
      let fresh: Leased[] | undefined;
      const output = await store.edit('publish', input).then((answer) => {
        fresh = [...taken];
        return answer;
      });
      offers.fresh = undefined;
      assert(fresh !== undefined);
      return { output, fresh };
    },
    claim: async (room) => {
      offers.claim = toOffer(room);
      return cycle();
    },
    fanOut: async (room) => {
      offers.fanOut = toOffer(room);
      return cycle();
    },
  };
}

/** An unobserved rejection must not fail the test. */
function awaited(): PromiseWithResolvers<Worked> {
  const worked = Promise.withResolvers<Worked>();
  worked.promise.catch(() => undefined);
  return worked;
}
