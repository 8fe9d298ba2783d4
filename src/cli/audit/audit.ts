// `ringback audit`: lists the audit trail, or exports it as lines of JSON.
import type { AuditEntry } from '../../client/client.ts';
import { auditActions } from '../../core/domain/audit.ts';
import type { Invocation } from '../declare/command.ts';
import { showList, viewOf, type View } from '../service/view.ts';
import { withService } from '../service/with-service.ts';
import { calledWrongly } from '../terminal/failure.ts';
import type { Column } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { readTime } from '../terminal/when.ts';

export async function audit(call: Invocation, terminal: Terminal): Promise<void> {
  const nowMs = terminal.world.nowMs();
  const [since, until, key] = [call.text('since'), call.text('until'), call.text('by')];
  if (key !== undefined && !/^rbk_[0-9A-Za-z]{8}$/.test(key)) {
    const shown = JSON.stringify(key.slice(0, idChars));
    throw calledWrongly(
      `Cannot filter by ${shown}: expected the id of a key, rbk_ and eight characters`,
    );
  }
  const filters = {
    action: auditActions.find((one) => one === call.text('action')),
    object: call.text('object'),
    key,
    customer: call.text('customer'),
    from: since === undefined ? undefined : readTime({ flag: 'since', text: since }, nowMs),
    until: until === undefined ? undefined : readTime({ flag: 'until', text: until }, nowMs),
  };
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  await withService(call, async ({ client }) =>
    showList(call, terminal, {
      list: (limit) => client.audit.list({ ...filters, limit }),
      columns: columns(viewOf(terminal)),
      none: isFiltered
        ? 'No entry matches. Remove a filter, or list all: ringback audit'
        : 'No entries yet: nothing was changed since the audit trail began.',
      isLines: true,
    }),
  );
}

/** Never shows more of what may be a whole key. */
const idChars = 12;

function columns({ when }: View): Column<AuditEntry>[] {
  return [
    { title: 'AT', show: ({ at }) => when(at) },
    { title: 'ACTION', show: ({ action }) => action },
    { title: 'OBJECT', show: ({ object }) => object?.id ?? '', rank: 9, shrinksTo: 16 },
    { title: 'BY', show: ({ actor }) => actorText(actor), rank: 8 },
    { title: 'ADDRESS', show: ({ actor }) => actor.address ?? '', rank: 6, shrinksTo: 15 },
    { title: 'CUSTOMER', show: ({ customer }) => customer ?? '', rank: 7, shrinksTo: 12 },
    { title: 'DETAILS', show: detailsText, rank: 5, shrinksTo: 12 },
  ];
}

function actorText({ kind, key }: AuditEntry['actor']): string {
  if (key === undefined) return kind;
  return kind === 'key' ? key : `${key} (${kind})`;
}

function detailsText({ details }: AuditEntry): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${[value].flat().join(', ')}`)
    .join('; ');
}
