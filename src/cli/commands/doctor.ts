// Declares `ringback doctor`; its implementation is loaded when it runs.
import type { Command } from '../command.ts';

export const doctor: Command = {
  name: 'doctor',
  group: 'operate',
  summary: 'says what a start would meet, and what to do about it',
  usage: ['ringback doctor [--lookup NAME] [--SETTING VALUE]…'],
  about:
    'Looks at everything that a start needs: settings, contracts, data folder, disk, store, schema, ' +
    'encryption key, clock, DNS, TLS certificate, port and public URL. It changes nothing, and may run ' +
    'beside a service that is running.',
  flags: {
    lookup: {
      kind: 'text',
      placeholder: 'NAME',
      says:
        'a host to look up, such as one of your receivers; otherwise the host of ' +
        'RINGBACK_PUBLIC_URL, or example.com',
    },
  },
  takesSettings: true,
  settingsShown: ['data', 'databaseUrl', 'port'],
  json: 'a list of { check, state, message, remedy }; state is ok, warning or failed',
  examples: [
    { line: 'ringback doctor', says: 'before the first start, and whenever something is odd' },
    {
      line: 'ringback doctor --lookup shop.example.com',
      says: 'can this machine find the receiver?',
    },
    {
      line: `ringback doctor --json | jq '.[] | select(.state == "failed")'`,
      says: 'only what failed',
    },
  ],
  exitCodes: {
    0: 'nothing failed; there may be warnings',
    1: 'something failed: a start would fail too, or break a promise',
  },
  run: async (call, terminal) => (await import('../doctor.ts')).doctor(call, terminal),
};
