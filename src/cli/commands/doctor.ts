// Declares `ringback doctor`; its implementation is loaded when it runs.
import type { Command } from '../declare/command.ts';

export const doctor: Command = {
  name: 'doctor',
  group: 'operate',
  summary: 'Check the configuration and environment before starting',
  usage: ['ringback doctor [--lookup NAME] [--SETTING VALUE]…'],
  about:
    'Checks everything a start depends on: settings, contracts, data folder, disk, store, ' +
    'schema, encryption key, clock, DNS, TLS certificate, port and public URL. It changes ' +
    'nothing and is safe to run beside a running service.',
  flags: {
    lookup: {
      kind: 'text',
      placeholder: 'NAME',
      says:
        'Host to resolve, such as one of your receivers (the host of RINGBACK_PUBLIC_URL, or ' +
        'example.com)',
    },
  },
  takesSettings: true,
  settingsShown: ['data', 'databaseUrl', 'port'],
  json: 'an array of { check, state, message, remedy }, where state is ok, warning or failed',
  examples: [
    { line: 'ringback doctor', says: 'Check before the first start, or when something is wrong' },
    {
      line: 'ringback doctor --lookup shop.example.com',
      says: 'Check that this machine can resolve a receiver',
    },
    {
      line: `ringback doctor --json | jq '.[] | select(.state == "failed")'`,
      says: 'Print only the failed checks',
    },
  ],
  exitCodes: {
    0: 'No check failed; there may be warnings',
    1: 'A check failed: the service would not start, or could not keep its guarantees',
  },
  run: async (call, terminal) => (await import('../doctor/doctor.ts')).doctor(call, terminal),
};
