// Settings: one row each, read from the environment, then from flags of the same name. All mistakes
// are reported at once; nothing is guessed. docs/settings.md is made from this table.
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import {
  logLevels,
  readAllowTargets,
  readApiKey,
  readDurations,
  readKeyRing,
  readLogLevel,
  readPort,
  readPublicUrl,
  readRetention,
  readSwitch,
  readText,
  readTimeout,
  value,
  type Reading,
} from './config/readers.ts';
import { parseAllowTargets, type Policy } from './egress/policy.ts';

interface Setting<T> {
  env: string;
  fallback: string | undefined;
  /** What stands in the table where the default is no plain value. */
  fallbackText?: string;
  meaning: string;
  /** May be given as a file's path in `<env>_FILE`; never shown in a message. */
  isSecret?: true;
  read: (text: string) => Reading<T>;
}

export const settings = {
  host: {
    env: 'RINGBACK_HOST',
    fallback: '127.0.0.1',
    meaning: 'address to listen on',
    read: readText,
  },
  port: {
    env: 'RINGBACK_PORT',
    fallback: '8080',
    meaning: 'port to listen on; 0 takes a free one',
    read: readPort,
  },
  data: {
    env: 'RINGBACK_DATA',
    fallback: './data',
    meaning: 'folder of the SQLite file and of the encryption key',
    read: readText,
  },
  apiKey: {
    env: 'RINGBACK_API_KEY',
    fallback: undefined,
    fallbackText: 'made and printed once at first start',
    meaning: 'the first key of the app `default`, with every scope: 32 characters or more',
    isSecret: true,
    read: readApiKey,
  },
  publicUrl: {
    env: 'RINGBACK_PUBLIC_URL',
    fallback: undefined,
    fallbackText: 'from host and port',
    meaning: 'how clients reach the service: used by `$url`, links and the origin check',
    read: readPublicUrl,
  },
  tlsCert: {
    env: 'RINGBACK_TLS_CERT',
    fallback: undefined,
    meaning: 'certificate file (PEM); with the key, the service speaks https',
    read: readText,
  },
  tlsKey: {
    env: 'RINGBACK_TLS_KEY',
    fallback: undefined,
    meaning: 'private key file (PEM) of the certificate',
    read: readText,
  },
  trustProxy: {
    env: 'RINGBACK_TRUST_PROXY',
    fallback: 'off',
    meaning: 'believe the forwarded headers of a proxy in front',
    read: readSwitch,
  },
  requireAppId: {
    env: 'RINGBACK_REQUIRE_APP_ID',
    fallback: 'off',
    meaning: 'every requirement of the built-in contract becomes key AND `X-APP-ID`',
    read: readSwitch,
  },
  allowTargets: {
    env: 'RINGBACK_ALLOW_TARGETS',
    fallback: undefined,
    fallbackText: '`loopback` while listening on loopback, else `none`',
    meaning: 'what callbacks may reach besides public addresses: `none`, `loopback`, CIDR list',
    read: readAllowTargets,
  },
  requireHttps: {
    env: 'RINGBACK_REQUIRE_HTTPS',
    fallback: 'off',
    meaning: 'refuse http callback URLs',
    read: readSwitch,
  },
  retry: {
    env: 'RINGBACK_RETRY',
    fallback: '5s,5m,30m,2h,5h,10h,10h',
    meaning: 'waits between the attempts of a delivery; the last one is followed by `dead`',
    read: readDurations,
  },
  timeout: {
    env: 'RINGBACK_TIMEOUT',
    fallback: '15s',
    meaning: 'how long a whole attempt may take, from 100ms to 60s',
    read: readTimeout,
  },
  retention: {
    env: 'RINGBACK_RETENTION',
    fallback: '30d',
    meaning:
      'how long events, deliveries and attempts are kept, 1h or more; what still waits then is `dead`',
    read: readRetention,
  },
  encryptionKey: {
    env: 'RINGBACK_ENCRYPTION_KEY',
    fallback: undefined,
    fallbackText: 'made in the data folder',
    meaning:
      'wraps signing secrets: 32 bytes in base64 or hex; after a comma, older keys that still open',
    isSecret: true,
    read: readKeyRing,
  },
  log: {
    env: 'RINGBACK_LOG',
    fallback: 'info',
    meaning: `log level: ${logLevels.join(', ')}`,
    read: readLogLevel,
  },
} as const satisfies Record<string, Setting<unknown>>;

type SettingName = keyof typeof settings;
type Value<N extends SettingName> = Extract<
  ReturnType<(typeof settings)[N]['read']>,
  { kind: 'value' }
>['value'];
/** A setting without a fallback may be absent. */
type Values = {
  [N in SettingName]: (typeof settings)[N]['fallback'] extends string
    ? Value<N>
    : Value<N> | undefined;
};

export type Config = Omit<Values, 'allowTargets' | 'requireHttps'> & { policy: Policy };

export type ConfigReading =
  | { kind: 'config'; config: Config; warnings: readonly string[] }
  | { kind: 'mistakes'; mistakes: readonly string[] };

export type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(env: Environment): ConfigReading {
  const mistakes: string[] = [];
  const take = <N extends SettingName>(name: N): Values[N] =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the row's own type, by name
    readSetting(settings[name], env, mistakes) as Values[N];
  const values = {
    host: take('host'),
    port: take('port'),
    data: take('data'),
    apiKey: take('apiKey'),
    publicUrl: take('publicUrl'),
    tlsCert: take('tlsCert'),
    tlsKey: take('tlsKey'),
    trustProxy: take('trustProxy'),
    requireAppId: take('requireAppId'),
    retry: take('retry'),
    timeout: take('timeout'),
    retention: take('retention'),
    encryptionKey: take('encryptionKey'),
    log: take('log'),
  };
  const allow = take('allowTargets');
  const requireHttps = take('requireHttps');
  if (env['DATABASE_URL'] !== undefined) {
    mistakes.push('Cannot use DATABASE_URL: this version keeps its data in SQLite only');
  }
  if ((values.tlsCert === undefined) !== (values.tlsKey === undefined)) {
    mistakes.push('Cannot serve https: expected RINGBACK_TLS_CERT and RINGBACK_TLS_KEY together');
  }
  if (mistakes.length > 0) return { kind: 'mistakes', mistakes };
  const fallbackAllow = parseAllowTargets(isLoopback(values.host) ? 'loopback' : 'none');
  const policy = {
    allow: allow ?? (fallbackAllow.kind === 'allow' ? fallbackAllow.allow : []),
    requireHttps,
  };
  return { kind: 'config', config: { ...values, policy }, warnings: warningsFor(values, env) };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

type Shown = Pick<Config, 'host' | 'tlsCert' | 'trustProxy' | 'retry' | 'retention'>;

function warningsFor(values: Shown, env: Environment): string[] {
  const { host, tlsCert, trustProxy, retry, retention } = values;
  const warnings: string[] = [];
  if (retry.reduce((sum, ms) => sum + ms, 0) > retention) {
    warnings.push(
      'RINGBACK_RETENTION is shorter than all waits of RINGBACK_RETRY together: ' +
        'deliveries that fail expire before their last attempt.',
    );
  }
  if (!isLoopback(host) && tlsCert === undefined && !trustProxy) {
    warnings.push(
      `Listening on ${host} without TLS: API keys are only safe over HTTPS. ` +
        'Set RINGBACK_TLS_CERT and RINGBACK_TLS_KEY, or RINGBACK_TRUST_PROXY behind a TLS proxy.',
    );
  }
  const known = new Set<string>(Object.values(settings).flatMap((s) => [s.env, `${s.env}_FILE`]));
  for (const name of Object.keys(env)) {
    if (name.startsWith('RINGBACK_') && !known.has(name)) {
      warnings.push(`${name} is no setting of this version and has no effect.`);
    }
  }
  return warnings;
}

function readSetting(row: Setting<unknown>, env: Environment, mistakes: string[]): unknown {
  const given = readGiven(row, env);
  if (given.kind === 'mistake') {
    mistakes.push(given.text);
    return undefined;
  }
  const text = given.value ?? row.fallback;
  if (text === undefined) return undefined;
  const reading = row.read(text);
  if (reading.kind === 'value') return reading.value;
  const shown = row.isSecret === true ? row.env : `${row.env} "${text}"`;
  mistakes.push(`Cannot read ${shown}: ${reading.text}`);
  return undefined;
}

/** The text of a setting, from the environment or from the file that `_FILE` names. */
function readGiven(row: Setting<unknown>, env: Environment): Reading<string | undefined> {
  const direct = env[row.env];
  const file = row.isSecret === true ? env[`${row.env}_FILE`] : undefined;
  const isEmpty = direct === undefined || direct === '';
  if (file === undefined || file === '') return value(isEmpty ? undefined : direct);
  if (!isEmpty) {
    return {
      kind: 'mistake',
      text: `Cannot read ${row.env}: it is given twice, also as _FILE`,
    };
  }
  try {
    return value(readFileSync(file, 'utf8').trim());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'mistake', text: `Cannot read ${row.env}_FILE "${file}": ${why}` };
  }
}
