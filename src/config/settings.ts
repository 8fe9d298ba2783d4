// The settings: one row each, with its environment variable, default, meaning and reader. config.ts
// reads them, and docs/settings.md is generated from this table.
import {
  logLevels,
  readAllowTargets,
  readApiKey,
  readDatabaseUrl,
  readFiles,
  readDurations,
  readKeyRing,
  readLogFormat,
  readLogLevel,
  readMetricsAccess,
  readNodeName,
  readPayloadQuota,
  readPort,
  readPublicUrl,
  readQuota,
  readRate,
  readRole,
  readRetention,
  readSwitch,
  readText,
  readTimeout,
} from './readers.ts';
import type { Setting } from './setting.ts';

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
  fastPath: {
    env: 'RINGBACK_FAST_PATH',
    fallback: 'on',
    meaning:
      'read plain publishes by our own HTTP parser; `off`: every request goes through Node’s. ' +
      'Unused with TLS',
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
  contractRoot: {
    env: 'RINGBACK_CONTRACT_ROOT',
    fallback: undefined,
    fallbackText: "each document's own folder",
    meaning:
      'folder that `$ref`s of contracts may lead to, besides the folder of the document; links are followed first',
    read: readText,
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
    fallbackText: '`loopback` while only this machine reaches the service, else `none`',
    meaning:
      'what callbacks may reach besides public addresses: `none`, `loopback`, CIDR list. Other machines ' +
      'reach the service if it listens beyond loopback, `RINGBACK_PUBLIC_URL` names another host, ' +
      '`RINGBACK_TRUST_PROXY` is on, or it is a `worker`',
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
  quotaSubscriptions: {
    env: 'RINGBACK_QUOTA_SUBSCRIPTIONS',
    fallback: 'none',
    meaning:
      'how many subscriptions an app may have that has no quota of its own; `none`: any number',
    read: readQuota,
  },
  quotaEventsPerSecond: {
    env: 'RINGBACK_QUOTA_EVENTS_PER_SECOND',
    fallback: 'none',
    meaning: 'how many events a second such an app may publish, over all nodes together',
    read: readRate,
  },
  quotaPayload: {
    env: 'RINGBACK_QUOTA_PAYLOAD',
    fallback: 'none',
    meaning:
      'how large a payload of such an app may be, such as 64KiB; 1 MiB is the most in any case',
    read: readPayloadQuota,
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
  metrics: {
    env: 'RINGBACK_METRICS',
    fallback: 'key',
    meaning:
      'who may read `/metrics`: `key` asks for a key with the scope `operator`, `open` for nothing',
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
    meaning: 'how log lines look: `json`, `pretty`, or `auto`: pretty on a terminal',
    read: readLogFormat,
  },
} as const satisfies Record<string, Setting<unknown>>;
