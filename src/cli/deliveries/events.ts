// `ringback events`: lists events, or shows one with its payload and its deliveries.
import type { Event, ShownEvent } from '../../client/client.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Invocation } from '../declare/command.ts';
import { refuseBeside } from '../declare/flags.ts';
import { listFlags, timeFlags } from '../service/filter-flags.ts';
import { expectId } from '../service/id-kind.ts';
import { showList, viewOf, type View } from '../service/view.ts';
import { withService, type Service } from '../service/with-service.ts';
import { calledWrongly } from '../terminal/failure.ts';
import type { Column } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { readTime } from '../terminal/when.ts';
import { describeSkipped } from '../publish/publish.ts';
import { deliveryColumns } from './delivery-view.ts';

export async function events(call: Invocation, terminal: Terminal): Promise<void> {
  const [id, ...more] = call.positionals;
  if (more.length > 0) throw calledWrongly('Cannot show several events: expected at most one EVT');
  const nowMs = terminal.world.nowMs();
  const [event, since, until] = [call.text('event'), call.text('since'), call.text('until')];
  const filters = {
    event,
    subject: call.text('subject'),
    customer: call.text('customer'),
    from: since === undefined ? undefined : readTime({ flag: 'since', text: since }, nowMs),
    until: until === undefined ? undefined : readTime({ flag: 'until', text: until }, nowMs),
  };
  if (id !== undefined) {
    expectId('evt', id, 'show');
    refuseBeside(call, `"${id}"`, [
      'event',
      'subject',
      ...Object.keys({ ...timeFlags, ...listFlags }),
    ]);
  }
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  await withService(call, async (service) =>
    id === undefined
      ? showList(call, terminal, {
          list: (limit) => service.client.events.list({ ...filters, limit }),
          columns: columns(viewOf(terminal)),
          none: isFiltered
            ? 'No event matches. Remove a filter, or list all: ringback events'
            : 'No events yet. Publish one: ringback publish order.created --message "Order 42"',
        })
      : showEvent(call, terminal, { ...service, id }),
  );
}

function columns({ paint, when }: View): Column<Event>[] {
  return [
    { title: 'ID', show: ({ id }) => id },
    { title: 'EVENT', show: ({ event }) => event, rank: 9, shrinksTo: 16 },
    { title: 'SUBJECT', show: ({ subject }) => subject ?? '', rank: 6, shrinksTo: 12 },
    { title: 'CUSTOMER', show: ({ customer }) => customer ?? '', rank: 7, shrinksTo: 12 },
    {
      title: 'DELIVERIES',
      show: ({ deliveries }) => (deliveries === null ? 'counting' : String(deliveries)),
      isRight: true,
      rank: 8,
    },
    { title: 'PUBLISHED', show: ({ createdAt }) => when(createdAt), rank: 7 },
    {
      title: 'REJECTED',
      show: ({ rejected }) => rejected ?? '',
      paint: (_, text) => paint('red', text),
      rank: 6,
      shrinksTo: 20,
    },
  ];
}

async function showEvent(
  call: Invocation,
  terminal: Terminal,
  { client, id }: Service & { id: string },
): Promise<void> {
  const event = await client.events.get(id);
  if (call.isJson) return terminal.out(exactJson(event));
  const view = viewOf(terminal);
  const page = await client.deliveries.list({ eventId: id, limit: limits.pageItemsDefault }).page();
  const { deliveries } = event;
  terminal.out(
    view.facts([
      ['event', event.id],
      ['name', event.event],
      ['subject', event.subject],
      ['customer', event.customer],
      ['published', view.exactly(event.createdAt)],
      ['deliveries', deliveries === null ? 'being created' : String(deliveries)],
      ['rejected', event.rejected],
      ['skipped', describeSkipped(event.skippedCallbacks).join('\n')],
      ['payload', indented(event)],
    ]),
  );
  if (page.items.length === 0)
    return terminal.err('No deliveries: no subscription matched this event.\n');
  terminal.out(`\n${view.table(deliveryColumns(view), page.items)}`);
  if (page.nextCursor !== null) {
    terminal.err(`More deliveries: ringback deliveries --event-id ${id} --all\n`);
  }
}

/**
 * Inserts the payload as published: parsing it would lose precision, for example of a number with
 * 30 digits.
 */
function exactJson({ payload: _payload, payloadText, ...event }: ShownEvent): string {
  const members = [JSON.stringify(event).slice(1, -1), `"payload":${payloadText}`];
  return `{${members.filter((one) => one !== '').join(',')}}\n`;
}

/** Indented if that changes nothing but whitespace, else unchanged. */
function indented({ payload, payloadText }: ShownEvent): string {
  const compact = payloadText.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
  const isSame = JSON.stringify(payload) === compact;
  return isSame ? JSON.stringify(payload, null, 2) : payloadText;
}
