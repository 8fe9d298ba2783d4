// Reads of both databases: single rows, and whole lists page by page.
import { strict as assert } from 'node:assert';
import { minuteMs, pendingOf, spanBetween } from '../../src/core/telemetry/statistics.ts';
import { digest } from './subject.ts';
import { type Cast, nameOf } from './differential-operands.ts';
import type { ReadCommand } from './differential-commands.ts';

export async function read(cast: Cast, command: ReadCommand): Promise<void> {
  const { what, which, limit, subscriptionState } = command;
  const appNo = cast.apps[which % 8 === 0 ? 1 : 0];
  const pair = cast.pair;
  switch (what) {
    case 'subscriptions':
      await pages(limit, async (page) =>
        pair.readApart('subscriptions', bothOf(page, { appNo, state: subscriptionState })),
      );
      break;
    case 'events':
      await pages(limit, async (page) =>
        pair.readApart('events', bothOf(page, { appNo, name: command.name })),
      );
      break;
    case 'deliveries': {
      const filter = filterOf(cast, command);
      await pages(limit, async (page) =>
        pair.readApart('deliveries', bothOf(page, { appNo, filter })),
      );
      break;
    }
    case 'delivery': {
      const delivery = cast.delivery(which);
      if (delivery === undefined) break;
      const event = await pair.read('event', { appNo, id: delivery.event });
      assert(event !== undefined || which % 8 === 0);
      await pair.read('delivery', { appNo, ...delivery });
      await pair.read('attempts', { appNo, ...delivery });
      break;
    }
    case 'targets': {
      const callbacks = pair.table('callback').map((row) => Number(row['no']));
      const there = callbacks.map((no) => pair.toThere('callback', no));
      await pair.readApart('targets', { here: { callbacks }, there: { callbacks: there } });
      break;
    }
    case 'figures': {
      const span = spanBetween(pair.nowMs - which * 60 * minuteMs, pair.nowMs + 1);
      const { counts } = await pair.read('appStatistics', { appNo, span });
      const pending = cast.live().filter((row) => row['app'] === appNo);
      assert.equal(pendingOf(counts), pending.length);
      const ids = [which, which + 1].map((index) => cast.idOf('subscription', index));
      await pair.read('subscriptionStatistics', { appNo, ids, span, pendingMax: limit });
      break;
    }
    case 'feed': {
      await pair.read('feed', { appNo, after: undefined, limit });
      await pair.read('feed', { appNo, after: new Map([[1, which % 7]]), limit });
      const names = pair.table('delivery_done').map(nameOf);
      await pair.read('deliveriesNamed', { appNo, names: names.slice(0, which) });
      break;
    }
    case 'others': {
      const id = cast.idOf('subscription', which);
      await pair.read('subscription', { appNo, id });
      await pair.read('subscriptionHealth', {
        appNo,
        ids: [id, cast.idOf('subscription', which + 1)],
      });
      await pair.read('tally', {});
      await pair.read('nodes', {});
      await pair.read('key', { id: cast.idOf('key', which) });
      await pair.read('session', { hash: digest(`session ${which % 4}`) });
      await pair.read('adminKey', { appNo, nowMs: pair.nowMs });
      await pages(limit, async (page) => pair.readApart('keys', bothOf(page, { appNo })));
      await pages(limit, async (page) => pair.readApart('apps', bothOf(page, {})));
      break;
    }
  }
}

function filterOf(cast: Cast, { state, name, isOfEvent, isOfSubscription, which }: ReadCommand) {
  return {
    state,
    name,
    event: isOfEvent ? cast.delivery(which)?.event : undefined,
    subscription: isOfSubscription ? cast.idOf('subscription', which) : undefined,
  };
}

/** Reads a whole list page by page, with separate cursors for each database. */
async function pages(limit: number, readPage: (cursors: Cursors) => Promise<Both>): Promise<void> {
  let page: Cursors = { limit, here: undefined, there: undefined };
  for (let count = 0; count < 50; count += 1) {
    const { here, there } = await readPage(page);
    if (here.next === undefined) return;
    page = { limit, here: here.next, there: there.next };
  }
  assert.fail('A list does not end');
}

interface Cursors {
  limit: number;
  here: string | undefined;
  there: string | undefined;
}

interface Both {
  here: { next: string | undefined };
  there: { next: string | undefined };
}

function bothOf<T extends object>({ limit, here, there }: Cursors, input: T) {
  return {
    here: { ...input, page: { limit, after: here } },
    there: { ...input, page: { limit, after: there } },
  };
}
