// `ringback deliveries`: lists deliveries, shows one with its attempts, or follows them live.
import type { ListDeliveriesQuery } from '../../client/client.ts';
import type { Invocation } from '../declare/command.ts';
import { deliveryFlags, deliveryStates, errorWords, listFlags } from '../service/filter-flags.ts';
import { deliveryColumns, showDelivery } from './delivery-view.ts';
import { calledWrongly } from '../terminal/failure.ts';
import { expectId } from '../service/id-kind.ts';
import { refuseBeside } from '../declare/refuse-beside.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { json, showList, viewOf } from '../service/view.ts';
import { watchDeliveries } from './watch-deliveries.ts';
import { readTime } from '../terminal/when.ts';
import { withService } from '../service/with-service.ts';

export async function deliveries(call: Invocation, terminal: Terminal): Promise<void> {
  const [id, ...more] = call.positionals;
  if (more.length > 0)
    throw calledWrongly('Cannot show several deliveries: expected at most one DLV');
  const ofLists = Object.keys(listFlags);
  const filtering = [...Object.keys(deliveryFlags), 'state', 'event-id'];
  if (id !== undefined) refuseBeside(call, `"${id}"`, [...filtering, ...ofLists, 'watch']);
  if (call.isOn('watch')) refuseBeside(call, '--watch', ofLists);
  const filters = readFilters(call, terminal.world.nowMs());
  if (id !== undefined) {
    expectId('dlv', id, 'show');
    const delivery = await withService(call, async ({ client }) => client.deliveries.get(id));
    return terminal.out(call.isJson ? json(delivery) : showDelivery(viewOf(terminal), delivery));
  }
  await withService(call, async ({ client }) =>
    call.isOn('watch')
      ? watchDeliveries({ call, terminal, client }, filters)
      : showList(call, terminal, {
          list: (limit) => client.deliveries.list({ ...filters, limit }),
          columns: deliveryColumns(viewOf(terminal)),
          none: noneOf(filters),
        }),
  );
}

/** Filters for lists, the live view and replays. */
export function readFilters(call: Invocation, nowMs: number): ListDeliveriesQuery {
  const subscriberId = call.text('to');
  const eventId = call.text('event-id');
  const [since, until] = [call.text('since'), call.text('until')];
  const status = call.text('status');
  if (status !== undefined && !/^([2-5]xx|[1-9]\d\d)$/.test(status)) {
    throw calledWrongly(
      `Cannot read --status "${status}": expected a status such as 404, or a class from 2xx ` +
        'to 5xx',
    );
  }
  return {
    state: oneOf(deliveryStates, call.text('state')),
    event: call.text('event'),
    eventId: eventId === undefined ? undefined : expectId('evt', eventId, 'filter by'),
    subscriberId:
      subscriberId === undefined ? undefined : expectId('sub', subscriberId, 'filter by'),
    status,
    error: oneOf(errorWords, call.text('error')),
    from: since === undefined ? undefined : readTime({ flag: 'since', text: since }, nowMs),
    until: until === undefined ? undefined : readTime({ flag: 'until', text: until }, nowMs),
  };
}

function oneOf<Word extends string>(
  words: readonly Word[],
  given: string | undefined,
): Word | undefined {
  return words.find((word) => word === given);
}

function noneOf(filters: ListDeliveriesQuery): string {
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return isFiltered
    ? 'No delivery matches. Remove a filter, or list all: ringback deliveries'
    : 'No deliveries yet. Subscribe first (ringback subscribe URL), then publish (ringback ' +
        'publish EVENT).';
}
