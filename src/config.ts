// Reads the configuration: the settings of config/settings.ts, from the environment, then from
// flags of the same name. It reports all mistakes at once and guesses nothing.
import { hostname } from 'node:os';
import { allowedTargets, isLoopback, type AllowedTargets } from './config/exposure.ts';
import { type Environment, isGiven, readSetting, settings } from './config/settings.ts';
import type { Quotas } from './core/load/quotas.ts';
import { parseAllowTargets, type Policy } from './egress/guard/allow-list.ts';
import type { Database } from './store/open/open.ts';

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

type Combined =
  | 'allowTargets'
  | 'requireHttps'
  | 'databaseUrl'
  | 'data'
  | 'nodeName'
  | 'contract'
  | 'managePrefix'
  | 'operations'
  | 'overlay'
  | 'portalOrigins'
  | 'quotaSubscriptions'
  | 'quotaEventsPerSecond'
  | 'quotaPayload';

export type Config = Omit<Values, Combined> & {
  policy: Policy;
  /** What callbacks may reach in addition to public addresses, and why. */
  targets: AllowedTargets;
  database: Database;
  nodeName: string;
  /** Files; empty: only Ringback's own document. */
  contract: readonly string[];
  /** Files, applied to each contract in this order. */
  overlay: readonly string[];
  /** Of pages that may show the portal in a frame. */
  portalOrigins: readonly string[];
  /** Who answers the operations of the contracts. */
  operations: Value<'operations'>;
  /** In front of the paths of Ringback's own document; may be empty. */
  managePrefix: string;
  /** Quotas of apps that have none of their own. */
  quotas: Quotas;
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
    fastPath: take('fastPath'),
    contract: take('contract') ?? [],
    contractRoot: take('contractRoot'),
    overlay: take('overlay') ?? [],
    ...takeGateway(take),
    portalOrigins: take('portalOrigins') ?? [],
    portalName: take('portalName'),
    portalLogo: take('portalLogo'),
    portalAccent: take('portalAccent'),
    lenient: take('lenient'),
    requireAppId: take('requireAppId'),
    retry: take('retry'),
    timeout: take('timeout'),
    retention: take('retention'),
    auditRetention: take('auditRetention'),
    storeTimeout: take('storeTimeout'),
    encryptionKey: take('encryptionKey'),
    metrics: take('metrics'),
    log: take('log'),
    logFormat: take('logFormat'),
  };
  const allow = take('allowTargets');
  const requireHttps = take('requireHttps');
  const url = take('databaseUrl');
  const dataDir = take('data');
  const nodeName = take('nodeName') ?? hostname();
  const quotas = {
    subscriptions: take('quotaSubscriptions'),
    eventsPerSecond: take('quotaEventsPerSecond'),
    payloadBytes: take('quotaPayload'),
  };
  const isCluster = url !== undefined || isGiven(settings.databaseUrl, env);
  mistakes.push(...(isCluster ? clusterMistakes(env) : soloMistakes(values)));
  if ((values.tlsCert === undefined) !== (values.tlsKey === undefined)) {
    mistakes.push(
      'Cannot serve HTTPS: RINGBACK_TLS_CERT and RINGBACK_TLS_KEY must be set together',
    );
  }
  if (values.overlay.length > 0 && values.contract.length === 0) {
    mistakes.push('Cannot use RINGBACK_OVERLAY: it applies to RINGBACK_CONTRACT, which is not set');
  }
  if (values.upstream === undefined && !isGiven(settings.upstream, env)) {
    mistakes.push(...withoutUpstream(env));
  }
  if (mistakes.length > 0) return { kind: 'mistakes', mistakes };
  const chosen = isGiven(settings.allowTargets, env) ? env[settings.allowTargets.env] : undefined;
  const targets = allowedTargets(chosen, values);
  const fallbackAllow = parseAllowTargets(targets.text);
  const policy = {
    allow: allow ?? (fallbackAllow.kind === 'allow' ? fallbackAllow.allow : []),
    requireHttps,
  };
  const database = url === undefined ? { dataDir } : { url };
  const config = { ...values, policy, targets, database, nodeName, quotas };
  return { kind: 'config', config, warnings: warningsFor(values, env) };
}

type GatewaySetting =
  | 'upstream'
  | 'upstreamTimeout'
  | 'upstreamAuth'
  | 'upstreamApp'
  | 'upstreamValidate'
  | 'upstreamWhenDown'
  | 'managePrefix'
  | 'operations';

function takeGateway(
  take: <N extends SettingName>(name: N) => Values[N],
): Pick<Config, GatewaySetting> {
  const upstream = take('upstream');
  const { managePrefix, operations } = besideUpstream(upstream);
  return {
    upstream,
    upstreamTimeout: take('upstreamTimeout'),
    upstreamAuth: take('upstreamAuth'),
    upstreamApp: take('upstreamApp'),
    upstreamValidate: take('upstreamValidate'),
    upstreamWhenDown: take('upstreamWhenDown'),
    managePrefix: take('managePrefix') ?? managePrefix,
    operations: take('operations') ?? operations,
  };
}

function withoutUpstream(env: Environment): string[] {
  const names = [
    'upstreamTimeout',
    'upstreamAuth',
    'upstreamApp',
    'upstreamValidate',
    'upstreamWhenDown',
  ] as const;
  const given = names.map((name) => settings[name]).filter((setting) => isGiven(setting, env));
  return given.map(
    (setting) => `Cannot use ${setting.env}: it applies to RINGBACK_UPSTREAM, which is not set`,
  );
}

/** The defaults: with an upstream, the API answers, and all paths outside the prefix are those of the API. */
export function besideUpstream(
  upstream: string | undefined,
): Pick<Config, 'managePrefix' | 'operations'> {
  return upstream === undefined
    ? { managePrefix: '', operations: 'answer' }
    : { managePrefix: '/ringback', operations: 'register' };
}

/** All nodes must have the same key, so none of them can generate one. */
function clusterMistakes(env: Environment): string[] {
  if (isGiven(settings.encryptionKey, env)) return [];
  return [
    'Cannot use DATABASE_URL without RINGBACK_ENCRYPTION_KEY: all nodes need the same ' +
      'key. Create one with: openssl rand -base64 32',
  ];
}

function soloMistakes({ role }: Pick<Config, 'role'>): string[] {
  if (role !== 'api' && role !== 'worker') return [];
  return [
    `Cannot use RINGBACK_ROLE "${role}" with SQLite: a single process must do everything. ` +
      'Expected all, or DATABASE_URL',
  ];
}

type Shown = Pick<Config, 'host' | 'tlsCert' | 'trustProxy' | 'publicUrl' | 'retry' | 'retention'>;

function warningsFor(values: Shown, env: Environment): string[] {
  const { host, tlsCert, trustProxy, publicUrl, retry, retention } = values;
  const warnings: string[] = [];
  if (retry.reduce((sum, ms) => sum + ms, 0) > retention) {
    warnings.push(
      'RINGBACK_RETENTION is shorter than the delays of RINGBACK_RETRY together: failing ' +
        'deliveries expire before their last attempt.',
    );
  }
  if (!isLoopback(host) && tlsCert === undefined && !trustProxy) {
    warnings.push(
      `Listening on ${host} without TLS: API keys are sent unencrypted. Set ` +
        'RINGBACK_TLS_CERT and RINGBACK_TLS_KEY, or RINGBACK_TRUST_PROXY behind a TLS proxy.',
    );
  }
  if (trustProxy && publicUrl === undefined) {
    warnings.push(
      'RINGBACK_TRUST_PROXY is set without RINGBACK_PUBLIC_URL: links and the origin check ' +
        'use the address behind the proxy, which browsers do not see.',
    );
  }
  if (publicUrl !== undefined && new URL(publicUrl).pathname !== '/') {
    warnings.push('RINGBACK_PUBLIC_URL has a path: the console works only at the root of a host.');
  }
  const known = new Set<string>([
    ...Object.values(settings).flatMap((s) => [s.env, `${s.env}_FILE`]),
    'RINGBACK_URL', // This and the next belong to the commands that call a service.
    'RINGBACK_APP_ID',
  ]);
  for (const name of Object.keys(env)) {
    if (name.startsWith('RINGBACK_') && !known.has(name)) {
      warnings.push(`${name} is not a setting of this version and has no effect.`);
    }
  }
  return warnings;
}
