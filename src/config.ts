// Settings: one row each, read from the environment, then from flags of the same name. All mistakes
// are reported at once; nothing is guessed. docs/settings.md is made from this table.
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import {
  logLevels,
  readAllowTargets,
  readApiKey,
  readDatabaseUrl,
  readFiles,
  readDurations,
  readKeyRing,
  readLogLevel,
  readNodeName,
  readPort,
  readPublicUrl,
  readRole,
  readRetention,
  readSwitch,
  readText,
  readTimeout,
} from './config/readers.ts';
import { isGiven, readSetting, type Environment, type Setting } from './config/setting.ts';
import { parseAllowTargets, type Policy } from './egress/policy.ts';
import type { Database } from './store/open.ts';

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
  databaseUrl: {
    env: 'DATABASE_URL',
    fallback: undefined,
    fallbackText: 'SQLite in `RINGBACK_DATA`',
    meaning: '`postgres://…`: makes this process a node of a cluster over that PostgreSQL database',
    isSecret: true,
    read: readDatabaseUrl,
  },
  data: {
    env: 'RINGBACK_DATA',
    fallback: './data',
    meaning: 'folder of the SQLite file and of the encryption key; unused with `DATABASE_URL`',
    read: readText,
  },
  role: {
    env: 'RINGBACK_ROLE',
    fallback: 'all',
    meaning:
      'what a node of a cluster does: `api` serves requests, `worker` delivers, `all` does both',
    read: readRole,
  },
  nodeName: {
    env: 'RINGBACK_NODE_NAME',
    fallback: undefined,
    fallbackText: 'the host name',
    meaning: 'how this node is called in `GET /nodes`',
    read: readNodeName,
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
  contract: {
    env: 'RINGBACK_CONTRACT',
    fallback: undefined,
    fallbackText: 'the built-in `openapi.yaml`',
    meaning:
      'OpenAPI documents whose callbacks are executed, separated by commas; ' +
      'the flag may be given several times',
    read: readFiles,
  },
  lenient: {
    env: 'RINGBACK_LENIENT',
    fallback: 'off',
    meaning: 'accept payloads that break their contract, with a warning',
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
    fallbackText: 'made in the data folder; required with `DATABASE_URL`',
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

type Combined = 'allowTargets' | 'requireHttps' | 'databaseUrl' | 'data' | 'nodeName' | 'contract';

export type Config = Omit<Values, Combined> & {
  policy: Policy;
  database: Database;
  nodeName: string;
  /** Files. None: our own document. */
  contract: readonly string[];
};

export type { Environment };

export type ConfigReading =
  | { kind: 'config'; config: Config; warnings: readonly string[] }
  | { kind: 'mistakes'; mistakes: readonly string[] };

export function readConfig(env: Environment): ConfigReading {
  const mistakes: string[] = [];
  const take = <N extends SettingName>(name: N): Values[N] =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the row's own type, by name
    readSetting(settings[name], env, mistakes) as Values[N];
  const values = {
    host: take('host'),
    port: take('port'),
    role: take('role'),
    apiKey: take('apiKey'),
    publicUrl: take('publicUrl'),
    tlsCert: take('tlsCert'),
    tlsKey: take('tlsKey'),
    trustProxy: take('trustProxy'),
    contract: take('contract') ?? [],
    lenient: take('lenient'),
    requireAppId: take('requireAppId'),
    retry: take('retry'),
    timeout: take('timeout'),
    retention: take('retention'),
    encryptionKey: take('encryptionKey'),
    log: take('log'),
  };
  const allow = take('allowTargets');
  const requireHttps = take('requireHttps');
  const url = take('databaseUrl');
  const dataDir = take('data');
  const nodeName = take('nodeName') ?? hostname();
  const isCluster = url !== undefined || isGiven(settings.databaseUrl, env);
  mistakes.push(...(isCluster ? clusterMistakes(env) : soloMistakes(values)));
  if ((values.tlsCert === undefined) !== (values.tlsKey === undefined)) {
    mistakes.push('Cannot serve https: expected RINGBACK_TLS_CERT and RINGBACK_TLS_KEY together');
  }
  if (mistakes.length > 0) return { kind: 'mistakes', mistakes };
  const fallbackAllow = parseAllowTargets(isLoopback(values.host) ? 'loopback' : 'none');
  const policy = {
    allow: allow ?? (fallbackAllow.kind === 'allow' ? fallbackAllow.allow : []),
    requireHttps,
  };
  const database = url === undefined ? { dataDir } : { url };
  const config = { ...values, policy, database, nodeName };
  return { kind: 'config', config, warnings: warningsFor(values, env) };
}

/** Every node must have the same key, so none of them can make one. */
function clusterMistakes(env: Environment): string[] {
  if (isGiven(settings.encryptionKey, env)) return [];
  return [
    'Cannot use DATABASE_URL without RINGBACK_ENCRYPTION_KEY: all nodes need the same one. ' +
      'Make it once with: openssl rand -base64 32',
  ];
}

function soloMistakes({ role }: Pick<Config, 'role'>): string[] {
  if (role !== 'api' && role !== 'worker') return [];
  return [
    `Cannot take RINGBACK_ROLE "${role}" with SQLite: one process must do everything, ` +
      'expected all, or DATABASE_URL',
  ];
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

type Shown = Pick<Config, 'host' | 'tlsCert' | 'trustProxy' | 'publicUrl' | 'retry' | 'retention'>;

function warningsFor(values: Shown, env: Environment): string[] {
  const { host, tlsCert, trustProxy, publicUrl, retry, retention } = values;
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
  if (trustProxy && publicUrl === undefined) {
    warnings.push(
      'RINGBACK_TRUST_PROXY without RINGBACK_PUBLIC_URL: links and the origin check take the address ' +
        'behind the proxy, which browsers do not know.',
    );
  }
  if (publicUrl !== undefined && new URL(publicUrl).pathname !== '/') {
    warnings.push('RINGBACK_PUBLIC_URL has a path: the console works only at the root of a host.');
  }
  const known = new Set<string>(Object.values(settings).flatMap((s) => [s.env, `${s.env}_FILE`]));
  for (const name of Object.keys(env)) {
    if (name.startsWith('RINGBACK_') && !known.has(name)) {
      warnings.push(`${name} is no setting of this version and has no effect.`);
    }
  }
  return warnings;
}
