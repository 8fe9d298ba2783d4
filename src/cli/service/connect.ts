// The address of the service and the key to call it with: from flags or the environment.
import { readPublicUrl, readText } from '../../config/readers.ts';
import { readSetting } from '../../config/settings.ts';
import type { Flag, Invocation } from '../declare/command.ts';
import { calledWrongly } from '../terminal/failure.ts';

/** Flags of every command that calls a service. */
export const connectFlags = {
  url: {
    kind: 'text',
    placeholder: 'URL',
    says: 'URL of the service (RINGBACK_URL, or http://127.0.0.1:8080)',
  },
  key: {
    kind: 'text',
    placeholder: 'KEY',
    says: 'API key (RINGBACK_API_KEY, or the file in RINGBACK_API_KEY_FILE)',
  },
  'app-id': {
    kind: 'text',
    placeholder: 'APP',
    says: 'App id of the key; a key of another app is refused (RINGBACK_APP_ID)',
  },
} as const satisfies Record<string, Flag>;

export interface Connection {
  url: string;
  key: string;
  appId: string | undefined;
}

export function readConnection(call: Invocation): Connection {
  const appId = call.text('app-id') ?? (call.env['RINGBACK_APP_ID'] || undefined);
  return { url: readUrl(call), key: readKey(call), appId };
}

const fallbackUrl = 'http://127.0.0.1:8080';

function readUrl({ text, env }: Invocation): string {
  const flag = text('url');
  const local = fallbackUrl + (env['RINGBACK_MANAGE_PREFIX'] ?? '');
  const given = flag ?? (env['RINGBACK_URL'] || local);
  const reading = readPublicUrl(given);
  if (reading.kind === 'value') return reading.value;
  const name = flag === undefined ? 'RINGBACK_URL' : '--url';
  // Text before an @ may be a password.
  const shown = given.includes('@') ? name : `${name} "${given}"`;
  throw calledWrongly(`Cannot read ${shown}: ${reading.text}`);
}

/** Not checked here: a key that is not Ringback's may belong to a contract of the service. */
const keySetting = {
  env: 'RINGBACK_API_KEY',
  fallback: undefined,
  meaning: 'an API key',
  isSecret: true,
  read: readText,
} as const;

function readKey({ text, env }: Invocation): string {
  const mistakes: string[] = [];
  const key = text('key') ?? readSetting(keySetting, env, mistakes);
  if (mistakes.length > 0) throw calledWrongly(mistakes.join('\n'));
  if (typeof key === 'string' && key !== '') return key;
  throw calledWrongly(
    'Cannot call Ringback: no API key. Pass --key, or set RINGBACK_API_KEY or ' +
      'RINGBACK_API_KEY_FILE',
  );
}
