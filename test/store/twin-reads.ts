// What the commands read on both databases: single rows, and whole lists page by page.
import { strict as assert } from 'node:assert';
import { minuteMs, pendingOf, spanBetween } from '../../src/core/telemetry/statistics.ts';
import { digest } from './subject.ts';
import { type Cast, nameOf } from './twin-cast.ts';
import type { ReadCommand } from './twin-commands.ts';

export async function read(cast: Cast, command: ReadCommand): Promise<void> {
  const { what, which, limit, subscriptionState } = command;
  const appNo = cast.apps[which % 8 === 0 ? 1 : 0];
  const twins = cast.twins;
  switch (what) {
    case 'subscriptions':
      await pages(limit, async (page) =>
        twins.readApart('subscriptions', bothOf(page, { appNo, state: subscriptionState })),
      );
      break;
    case 'events':
      await pages(limit, async (page) =>
        twins.readApart('events', bothOf(page, { appNo, name: command.name })),
      );
      break;
    case 'deliveries': {
      const filter = filterOf(cast, command);
      await pages(limit, async (page) =>
        twins.readApart('deliveries', bothOf(page, { appNo, filter })),
      );
      break;
    }
    case 'delivery': {
      const delivery = cast.delivery(which);
      if (delivery === undefined) break;
      const event = await twins.read('event', { appNo, id: delivery.event });
      assert(event !== undefined || which % 8 === 0);
      await twins.read('delivery', { appNo, ...delivery });
      await twins.read('attempts', { appNo, ...delivery });
      break;
    }
    case 'targets': {
      const callbacks = twins.table('callback').map((row) => Number(row['no']));
      const there = callbacks.map((no) => twins.toThere('callback', no));
      await twins.readApart('targets', { here: { callbacks }, there: { callbacks: there } });
      break;
    }
    case 'figures': {
      const span = spanBetween(twins.nowMs - which * 60 * minuteMs, twins.nowMs + 1);
      const { counts } = await twins.read('appFigures', { appNo, span });
      const pending = cast.live().filter((row) => row['app'] === appNo);
      assert.equal(pendingOf(counts), pending.length);
      const ids = [which, which + 1].map((index) => cast.idOf('subscription', index));
      await twins.read('subscriptionFigures', { appNo, ids, span, pendingMax: limit });
      break;
    }
    case 'feed': {
      await twins.read('feed', { appNo, after: undefined, limit });
      await twins.read('feed', { appNo, after: new Map([[1, which % 7]]), limit });
      const names = twins.table('delivery_done').map(nameOf);
      await twins.read('deliveriesNamed', { appNo, names: names.slice(0, which) });
      break;
    }
    case 'others': {
      const id = cast.idOf('subscription', which);
      await twins.read('subscription', { appNo, id });
      await twins.read('subscriptionHealth', { appNo, id });
      await twins.read('tally', {});
      await twins.read('nodes', {});
      await twins.read('key', { id: cast.idOf('key', which) });
      await twins.read('session', { hash: digest(`session ${which % 4}`) });
      await twins.read('adminKey', { appNo, nowMs: twins.nowMs });
      await pages(limit, async (page) => twins.readApart('keys', bothOf(page, { appNo })));
      await pages(limit, async (page) => twins.readApart('apps', bothOf(page, {})));
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

/** A whole list, page by page, each database with its own cursors. */
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
