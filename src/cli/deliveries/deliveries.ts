// `ringback deliveries`: lists deliveries, shows one with its attempts, or follows them live.
import type { ListDeliveriesQuery, Client, Delivery } from '../../client/client.ts';
import { fitsEvent } from '../../core/domain/delivery.ts';
import type { Invocation } from '../declare/command.ts';
import { refuseBeside } from '../declare/flags.ts';
import { deliveryFlags, deliveryStates, errorWords, listFlags } from '../service/filter-flags.ts';
import { expectId } from '../service/id-kind.ts';
import { json, showList, viewOf, paintState } from '../service/view.ts';
import { withService } from '../service/with-service.ts';
import { calledWrongly } from '../terminal/failure.ts';
import { harmless } from '../terminal/text.ts';
import { stopSignal, type Terminal } from '../terminal/terminal.ts';
import { cutTo } from '../terminal/table.ts';
import { readTime } from '../terminal/when.ts';
import { deliveryColumns, showDelivery, answerOf } from './delivery-view.ts';

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
    subject: call.text('subject'),
    customer: call.text('customer'),
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

// Follows deliveries live, one line per change, until the user ends it. The service sends only the
// newest changes of a moment; the number of the others is always printed.

async function watchDeliveries(
  { call, terminal, client }: { call: Invocation; terminal: Terminal; client: Client },
  filters: ListDeliveriesQuery,
): Promise<void> {
  const signal = stopSignal(terminal);
  let isOpen = false;
  try {
    for await (const frame of client.stream({ signal })) {
      // The first frame comes at once: from here on nothing is missed.
      if (!isOpen && !call.isJson) terminal.err('Watching deliveries. Press Ctrl+C to stop.\n');
      else if (frame.isReset && !call.isJson) terminal.err('Some changes may have been missed.\n');
      isOpen = true;
      for (const delivery of frame.deliveries.filter((one) => fits(one, filters))) {
        terminal.out(call.isJson ? json(delivery) : line(terminal, delivery));
      }
      if (!call.isJson && frame.more > 0) terminal.err(`… and ${frame.more} more changes\n`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Filters like the list, except that errors match only the one shown. */
export function fits(delivery: Delivery, filters: ListDeliveriesQuery): boolean {
  const { state, event, subject, customer, eventId, subscriberId, status, error } = filters;
  const { from, until } = filters;
  return (
    fitsState(delivery, state) &&
    fitsEvent(delivery.event, event) &&
    (subject === undefined || delivery.subject === subject) &&
    (customer === undefined || delivery.customer === customer) &&
    (eventId === undefined || delivery.eventId === eventId) &&
    (subscriberId === undefined || delivery.subscriberId === subscriberId) &&
    fitsStatus(delivery, status) &&
    fitsError(delivery, error) &&
    (from === undefined || Date.parse(delivery.createdAt) >= Date.parse(from)) &&
    (until === undefined || Date.parse(delivery.createdAt) < Date.parse(until))
  );
}

function fitsState(
  { state, attemptCount }: Delivery,
  wanted: ListDeliveriesQuery['state'],
): boolean {
  const isPending = state === 'due' || state === 'running';
  if (wanted === 'pending') return isPending;
  if (wanted === 'retrying') return isPending && attemptCount > 0;
  return wanted === undefined || state === wanted;
}

function fitsStatus({ status }: Delivery, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const text = String(status ?? '');
  return wanted.endsWith('xx') ? text.charAt(0) === wanted.charAt(0) : text === wanted;
}

function fitsError({ state, error }: Delivery, wanted: string | undefined): boolean {
  if (wanted === 'exhausted') return state === 'dead' && error !== 'expired';
  return wanted === undefined || error === wanted;
}

function line(terminal: Terminal, delivery: Delivery): string {
  const { paint } = viewOf(terminal);
  const { state, event, id, attemptCount, callback, nextAttemptAt } = delivery;
  const at = new Date(terminal.world.nowMs()).toISOString();
  const clock = terminal.isTerminal ? at.slice(11, 19) : at;
  const tries = attemptCount > 1 ? ` after ${attemptCount} attempts` : '';
  const next = nextAttemptAt === undefined || attemptCount === 0 ? '' : `, next ${nextAttemptAt}`;
  const tail = `${id}  ${event}  ${answerOf(delivery)}${tries}${next}  ${callback.url}`;
  const room = terminal.width() - clock.length - stateChars - 4;
  const cut = cutTo(harmless(tail), Math.max(1, room));
  return `${paint('dim', clock)}  ${paintState(paint, state, state.padEnd(stateChars))}  ${cut}\n`;
}

/** The length of `delivered` and `cancelled`. */
const stateChars = 9;
