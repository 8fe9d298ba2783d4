// Declares `ringback check`; its implementation is loaded when it runs.
import type { Command } from '../command.ts';

export const check: Command = {
  name: 'check',
  group: 'operate',
  summary: 'says what OpenAPI documents would do as contracts',
  usage: ['ringback check FILE… [--contract-root FOLDER]'],
  about:
    'Starts nothing. It says which operations register callbacks and what they need, which events can ' +
    'be published, what was repaired on the way, and what cannot run and why.',
  positionals: {
    FILE: 'an OpenAPI document, 3.0 to 3.2, in YAML or JSON; references to other files in its folder are followed',
  },
  flags: {
    'contract-root': {
      kind: 'text',
      placeholder: 'FOLDER',
      says:
        'a folder that references may lead to, besides that of the document; otherwise ' +
        'RINGBACK_CONTRACT_ROOT',
    },
  },
  takesSettings: false,
  json: 'a list with one entry per file',
  examples: [
    { line: 'ringback check my-api.yaml', says: 'one document' },
    { line: 'ringback check contracts/*.yaml', says: 'all of them' },
    { line: `ringback check my-api.yaml --json | jq '.[].warnings'`, says: 'in a build' },
  ],
  exitCodes: {
    0: 'everything that the documents promise can run; there may be warnings',
    1:
      'something cannot: a document that does not load, an operation whose callbacks never ' +
      'resolve, or one that nobody can call',
  },
  run: async (call, terminal) => (await import('../check.ts')).check(call, terminal),
};
