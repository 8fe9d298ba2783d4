// The settings: one row each, with its environment variable, default, meaning and reader, and how a value is found in
// the environment or in the file that `_FILE` names. config.ts reads them, and docs/settings.md is generated from this
// table. It must never show a secret.
import { readFileSync } from 'node:fs';
import {
  logLevels,
  readAllowTargets,
  readApiKey,
  readAppId,
  readDatabaseUrl,
  readDurations,
  readFiles,
  type Reading,
  readKeyRing,
  readLogFormat,
  readLogLevel,
  readMetricsAccess,
  readColor,
  readNodeName,
  readOneOf,
  readOrigins,
  readPayloadQuota,
  readPort,
  readPrefix,
  readPublicUrl,
  readQuota,
  readRate,
  readRetention,
  readRole,
  readStoreTimeout,
  readSwitch,
  readText,
  readTimeout,
  readUpstreamTimeout,
  value,
} from './readers.ts';

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
    meaning: 'port to listen on; 0 selects a free one',
    read: readPort,
  },
  databaseUrl: {
    env: 'DATABASE_URL',
    fallback: undefined,
    fallbackText: 'SQLite in `RINGBACK_DATA`',
    meaning: '`postgres://…`: makes this process a node of a cluster on that PostgreSQL database',
    isSecret: true,
    read: readDatabaseUrl,
  },
  data: {
    env: 'RINGBACK_DATA',
    fallback: './data',
    meaning: 'folder of the SQLite file and the encryption key; unused with `DATABASE_URL`',
    read: readText,
  },
  role: {
    env: 'RINGBACK_ROLE',
    fallback: 'all',
    meaning:
      'role of a node in a cluster: `api` serves requests, `worker` delivers, `all` does both',
    read: readRole,
  },
  nodeName: {
    env: 'RINGBACK_NODE_NAME',
    fallback: undefined,
    fallbackText: 'the host name',
    meaning: 'name of this node in `GET /nodes`',
    read: readNodeName,
  },
  apiKey: {
    env: 'RINGBACK_API_KEY',
    fallback: undefined,
    fallbackText: 'created and printed once, at the first start',
    meaning: 'first key of the app `default`, with all scopes; at least 32 characters',
    isSecret: true,
    read: readApiKey,
  },
  publicUrl: {
    env: 'RINGBACK_PUBLIC_URL',
    fallback: undefined,
    fallbackText: 'derived from host and port',
    meaning: 'URL at which clients reach the service; used by `$url`, links and the origin check',
    read: readPublicUrl,
  },
  tlsCert: {
    env: 'RINGBACK_TLS_CERT',
    fallback: undefined,
    meaning: 'certificate file (PEM); together with the key, enables https',
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
    meaning: 'trust the `X-Forwarded-*` headers of a proxy in front',
    read: readSwitch,
  },
  fastPath: {
    env: 'RINGBACK_FAST_PATH',
    fallback: 'on',
    meaning:
      'parse plain publish requests with Ringback’s own HTTP parser; `off` uses Node’s parser for all ' +
      'requests. Unused with TLS',
    read: readSwitch,
  },
  contract: {
    env: 'RINGBACK_CONTRACT',
    fallback: undefined,
    fallbackText: 'the built-in `openapi.yaml`',
    meaning: 'OpenAPI documents to execute, separated by commas; the flag can be repeated',
    read: readFiles,
  },
  contractRoot: {
    env: 'RINGBACK_CONTRACT_ROOT',
    fallback: undefined,
    fallbackText: "each document's own folder",
    meaning:
      'additional folder that `$ref`s of contracts may lead to; symbolic links are resolved first',
    read: readText,
  },
  managePrefix: {
    env: 'RINGBACK_MANAGE_PREFIX',
    fallback: undefined,
    fallbackText: 'none; `/ringback` with an upstream',
    meaning:
      'path in front of everything that `openapi.yaml` describes, such as `/manage`, so that it cannot collide with ' +
      'a contract; `/healthz` and `/readyz` are served without it, too, unless there is an upstream',
    read: readPrefix,
  },
  upstream: {
    env: 'RINGBACK_UPSTREAM',
    fallback: undefined,
    fallbackText: 'none',
    meaning:
      'URL of an existing API, such as `http://127.0.0.1:3000`: Ringback stands in front of it and passes on ' +
      'everything that is not for Ringback itself',
    read: readPublicUrl,
  },
  operations: {
    env: 'RINGBACK_OPERATIONS',
    fallback: undefined,
    fallbackText: '`answer`; `register` with an upstream',
    meaning:
      'who answers the operations of `RINGBACK_CONTRACT` that have callbacks. `answer`: Ringback does. `register`: an ' +
      'API does, and Ringback registers what it accepted, so the paths of the document are no routes of Ringback',
    read: readOneOf('answer', 'register'),
  },
  upstreamTimeout: {
    env: 'RINGBACK_UPSTREAM_TIMEOUT',
    fallback: '60s',
    meaning: 'how long the API may take until it begins to answer, from 100ms to 1h',
    read: readUpstreamTimeout,
  },
  upstreamAuth: {
    env: 'RINGBACK_UPSTREAM_AUTH',
    fallback: 'passthrough',
    meaning:
      'who checks the credentials of requests for the API. `passthrough`: the API does. `keys`: Ringback does, by the ' +
      'security of `RINGBACK_CONTRACT` and its own keys, and tells the API the app and the key of the caller',
    read: readOneOf('passthrough', 'keys'),
  },
  upstreamApp: {
    env: 'RINGBACK_UPSTREAM_APP',
    fallback: undefined,
    fallbackText: 'the app `default`',
    meaning: 'id of the app whose subscriptions are made by requests that carry no key of Ringback',
    read: readAppId,
  },
  upstreamValidate: {
    env: 'RINGBACK_UPSTREAM_VALIDATE',
    fallback: 'warn',
    meaning:
      'what happens to requests for operations with callbacks that violate `RINGBACK_CONTRACT`. `off`: nothing. ' +
      '`warn`: they are logged and counted. `enforce`: they are refused',
    read: readOneOf('off', 'warn', 'enforce'),
  },
  upstreamWhenDown: {
    env: 'RINGBACK_UPSTREAM_WHEN_DOWN',
    fallback: 'refuse',
    meaning:
      'what happens to requests with a callback URL while the database is down. `refuse`: 503, before the API gets ' +
      'them. `pass`: they are passed on without being registered, and the answer has the header `Ringback-Warning`',
    read: readOneOf('refuse', 'pass'),
  },
  overlay: {
    env: 'RINGBACK_OVERLAY',
    fallback: undefined,
    fallbackText: 'none',
    meaning:
      'OpenAPI Overlay files to apply to the contracts when they are loaded, separated by commas; the flag can be repeated',
    read: readFiles,
  },
  lenient: {
    env: 'RINGBACK_LENIENT',
    fallback: 'off',
    meaning: 'accept payloads that violate their contract, with a warning',
    read: readSwitch,
  },
  requireAppId: {
    env: 'RINGBACK_REQUIRE_APP_ID',
    fallback: 'off',
    meaning: 'require `X-APP-ID` in addition to the key, for the built-in contract',
    read: readSwitch,
  },
  allowTargets: {
    env: 'RINGBACK_ALLOW_TARGETS',
    fallback: undefined,
    fallbackText: '`loopback` while only this machine can reach the service, otherwise `none`',
    meaning:
      'addresses that callbacks may reach in addition to public ones: `none`, `loopback`, or a list of CIDR ranges. ' +
      'Other machines can reach the service if it listens beyond loopback, `RINGBACK_PUBLIC_URL` names another ' +
      'host, `RINGBACK_TRUST_PROXY` is on, or it is a `worker`',
    read: readAllowTargets,
  },
  requireHttps: {
    env: 'RINGBACK_REQUIRE_HTTPS',
    fallback: 'off',
    meaning: 'refuse callback URLs without https',
    read: readSwitch,
  },
  retry: {
    env: 'RINGBACK_RETRY',
    fallback: '5s,5m,30m,2h,5h,10h,10h',
    meaning: 'waits between the attempts of a delivery; after the last attempt it is `dead`',
    read: readDurations,
  },
  timeout: {
    env: 'RINGBACK_TIMEOUT',
    fallback: '15s',
    meaning: 'time limit of a whole attempt, from 100ms to 60s',
    read: readTimeout,
  },
  retention: {
    env: 'RINGBACK_RETENTION',
    fallback: '30d',
    meaning:
      'how long events, deliveries and attempts are kept, at least 1h; deliveries still pending then become `dead`',
    read: readRetention,
  },
  auditRetention: {
    env: 'RINGBACK_AUDIT_RETENTION',
    fallback: '365d',
    meaning: 'how long entries of the audit trail are kept, at least 1h',
    read: readRetention,
  },
  quotaSubscriptions: {
    env: 'RINGBACK_QUOTA_SUBSCRIPTIONS',
    fallback: 'none',
    meaning:
      'maximum number of subscriptions of an app without a quota of its own; `none` means unlimited',
    read: readQuota,
  },
  quotaEventsPerSecond: {
    env: 'RINGBACK_QUOTA_EVENTS_PER_SECOND',
    fallback: 'none',
    meaning: 'maximum events per second of such an app, over all nodes together',
    read: readRate,
  },
  quotaPayload: {
    env: 'RINGBACK_QUOTA_PAYLOAD',
    fallback: 'none',
    meaning: 'maximum payload size of such an app, for example 64KiB; never more than 1 MiB',
    read: readPayloadQuota,
  },
  storeTimeout: {
    env: 'RINGBACK_STORE_TIMEOUT',
    fallback: '3s',
    meaning:
      'how long a request waits for the database before it is answered with 503, from 1s to 60s',
    read: readStoreTimeout,
  },
  encryptionKey: {
    env: 'RINGBACK_ENCRYPTION_KEY',
    fallback: undefined,
    fallbackText: 'created in the data folder; required with `DATABASE_URL`',
    meaning:
      'encrypts signing secrets: 32 bytes in base64 or hex; older keys for decryption may follow, separated by commas',
    isSecret: true,
    read: readKeyRing,
  },
  portalOrigins: {
    env: 'RINGBACK_PORTAL_ORIGINS',
    fallback: undefined,
    fallbackText: 'none',
    meaning:
      'origins of your own pages that may show the portal of a customer in a frame, such as ' +
      '`https://app.example.com`, separated by commas',
    read: readOrigins,
  },
  portalName: {
    env: 'RINGBACK_PORTAL_NAME',
    fallback: undefined,
    fallbackText: 'the name of the app',
    meaning: 'name of your product, as the title of the portal',
    read: readText,
  },
  portalLogo: {
    env: 'RINGBACK_PORTAL_LOGO',
    fallback: undefined,
    fallbackText: 'none',
    meaning: 'image file for the top of the portal: SVG, PNG, JPEG or WebP, at most 256 KiB',
    read: readText,
  },
  portalAccent: {
    env: 'RINGBACK_PORTAL_ACCENT',
    fallback: undefined,
    fallbackText: "Ringback's own",
    meaning: 'colour of buttons and links in the portal, such as `#0b5fff`',
    read: readColor,
  },
  metrics: {
    env: 'RINGBACK_METRICS',
    fallback: 'key',
    meaning:
      'access to `/metrics`: `key` requires a key with the scope `operator`, `open` requires none',
    read: readMetricsAccess,
  },
  log: {
    env: 'RINGBACK_LOG',
    fallback: 'info',
    meaning: `log level: ${logLevels.join(', ')}`,
    read: readLogLevel,
  },
  logFormat: {
    env: 'RINGBACK_LOG_FORMAT',
    fallback: 'auto',
    meaning: 'format of log lines: `json`, `pretty`, or `auto` (pretty on a terminal)',
    read: readLogFormat,
  },
} as const satisfies Record<string, Setting<unknown>>;

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Setting<T> {
  env: string;
  fallback: string | undefined;
  /** Text for the table of settings when the default is not a plain value. */
  fallbackText?: string;
  meaning: string;
  /** May be given as a file path in `<env>_FILE`; never shown in a message. */
  isSecret?: true;
  read: (text: string) => Reading<T>;
}

export function isGiven(row: Setting<unknown>, env: Environment): boolean {
  return (env[row.env] ?? '') !== '' || (env[`${row.env}_FILE`] ?? '') !== '';
}

export function readSetting(row: Setting<unknown>, env: Environment, mistakes: string[]): unknown {
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
      text: `Cannot read ${row.env}: it is set twice, also as ${row.env}_FILE`,
    };
  }
  try {
    return value(readFileSync(file, 'utf8').trim());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'mistake', text: `Cannot read ${row.env}_FILE "${file}": ${why}` };
  }
}
