// Declares `ringback check`; its implementation is loaded when it runs.
import type { Command } from '../declare/command.ts';

export const check: Command = {
  name: 'check',
  group: 'operate',
  summary: 'Check how OpenAPI documents run as contracts',
  usage: [
    'ringback check FILE… [--contract-root FOLDER] [--overlay FILE]… [--manage-prefix PATH]',
    'ringback check FILE… --upstream URL',
  ],
  about:
    'Loads the documents as a service with all of them would, without starting one. Lists the operations that register ' +
    'callbacks and what each requires, the events that can be published, what was ' +
    'repaired while loading, and what cannot be executed and why.',
  positionals: {
    FILE:
      'OpenAPI document, 3.0 to 3.2, in YAML or JSON; references to other files in its ' +
      'folder are followed',
  },
  flags: {
    'contract-root': {
      kind: 'text',
      placeholder: 'FOLDER',
      says:
        'Allow references into this folder, besides the folder of the document ' +
        '(RINGBACK_CONTRACT_ROOT)',
    },
    overlay: {
      kind: 'text',
      placeholder: 'FILE',
      isRepeatable: true,
      says: 'Apply this OpenAPI Overlay first (RINGBACK_OVERLAY)',
    },
    'manage-prefix': {
      kind: 'text',
      placeholder: 'PATH',
      says: 'As the service would be started (RINGBACK_MANAGE_PREFIX)',
    },
    operations: {
      kind: 'text',
      placeholder: 'WHO',
      says:
        'Check as a service that lets an API answer (register), or answers itself (answer, the default) ' +
        '(RINGBACK_OPERATIONS)',
    },
    upstream: {
      kind: 'text',
      placeholder: 'URL',
      says: 'Check as a service in front of this API (RINGBACK_UPSTREAM); nothing is sent to it',
    },
    'upstream-auth': {
      kind: 'text',
      placeholder: 'WHO',
      says:
        'Check as a service that checks keys itself (keys), or leaves credentials to the API ' +
        '(passthrough, the default) (RINGBACK_UPSTREAM_AUTH)',
    },
  },
  takesSettings: false,
  json: 'an array with one entry per file',
  examples: [
    { line: 'ringback check my-api.yaml', says: 'Check one document' },
    { line: 'ringback check contracts/*.yaml', says: 'Check all documents in a folder' },
    {
      line: 'ringback check my-api.yaml --upstream http://127.0.0.1:3000',
      says: 'Show what is passed on to an existing API and what is registered',
    },
    {
      line: `ringback check my-api.yaml --json | jq '.[].warnings'`,
      says: 'List warnings in a CI build',
    },
  ],
  exitCodes: {
    0: 'A service with these documents starts, and every operation can do its work',
    1:
      'A service with these documents does not start, no callback of an operation can ever be ' +
      'registered, or an operation cannot be called',
  },
  run: async (call, terminal) => (await import('../check/check.ts')).check(call, terminal),
};
