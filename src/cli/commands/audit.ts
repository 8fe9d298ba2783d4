// Declares `ringback audit`; its implementation is loaded when it runs.
import { auditActions } from '../../core/domain/audit.ts';
import type { Command } from '../declare/command.ts';
import { connectFlags } from '../service/connect.ts';
import { customerFlag, listFlags, timeFlags } from '../service/filter-flags.ts';

const { cursor: _cursor, ...pageFlags } = listFlags;

export const audit: Command = {
  name: 'audit',
  group: 'operate',
  summary: 'List or export the audit trail: who changed what',
  usage: [
    'ringback audit [--action ACTION] [--object ID] [--by KEY] [--customer TEXT] [--since WHEN]',
  ],
  about:
    'Newest first. Needs a key with the scope admin. With --json, every entry is a line of JSON, and ' +
    'all are printed unless --limit is given: that is the export.',
  flags: {
    action: {
      kind: 'choice',
      placeholder: 'ACTION',
      choices: auditActions,
      says: 'Only this action',
    },
    object: {
      kind: 'text',
      placeholder: 'ID',
      says: 'About this object: an id, or the name of an event type',
    },
    by: { kind: 'text', placeholder: 'KEY', says: 'Done with this key, as in rbk_Ab12Cd34' },
    customer: { ...customerFlag, says: 'About this customer, such as cus_1' },
    since: { ...timeFlags.since, says: timeFlags.since.says.replace('Published at', 'At') },
    until: { ...timeFlags.until, says: timeFlags.until.says.replace('Published before', 'Before') },
    ...pageFlags,
    ...connectFlags,
  },
  takesSettings: false,
  json: 'one line for each entry',
  examples: [
    {
      line: 'ringback audit --object sub_01jc4t6v8m3q5r7w9x1y2z3a4b',
      says: 'Show who changed a subscription',
    },
    {
      line: 'ringback audit --action secret.shown --since 7d',
      says: 'List who read a signing secret this week',
    },
    {
      line: 'ringback audit --json --since 1d > audit.jsonl',
      says: 'Export the entries of the last day',
    },
  ],
  run: async (call, terminal) => (await import('../audit/audit.ts')).audit(call, terminal),
};
