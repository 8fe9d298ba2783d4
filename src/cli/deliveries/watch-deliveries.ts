// Follows deliveries live, one line per change, until the user ends it. The service sends only the
// newest changes of a moment; the number of the others is always printed.
import type { Client, Delivery, ListDeliveriesQuery } from '../../client/client.ts';
import { fitsEvent } from '../../core/domain/fits-delivery.ts';
import type { Invocation } from '../declare/command.ts';
import { answerOf } from './delivery-view.ts';
import { harmless } from '../terminal/harmless.ts';
import { stopSignal } from '../terminal/stop-signal.ts';
import { cutTo } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { json, paintState, viewOf } from '../service/view.ts';

export async function watchDeliveries(
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
  const { state, event, eventId, subscriberId, status, error, from, until } = filters;
  return (
    fitsState(delivery, state) &&
    fitsEvent(delivery.event, event) &&
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
