// The required interface: one row per clause, for everything that needs no callback to be sent.
// Each row is checked over real sockets against the running service.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { load } from 'js-yaml';
import { frozenWorld } from './frozen-world.ts';
import { start, type Answer, type Call, type Running } from './harness.ts';
import { mountContract } from './mount-contract.ts';

const hook = 'https://hooks.example';
const names = { 'hooks.example': ['93.184.215.14'], 'inside.example': ['10.0.0.1'] };
const world = frozenWorld();
const plain = await start({ names, world });
const both = await start({ names, env: { RINGBACK_REQUIRE_APP_ID: 'on' } });
after(async () => plain[Symbol.asyncDispose]());
after(async () => both[Symbol.asyncDispose]());
const other = await newApp(plain);
const document = (await plain.call({ path: '/openapi.json', key: null })).json;

type Check = () => Promise<void>;
type Row = readonly [clause: string, ...checks: Check[]];

const unsubscribable = ['subscriberId'];
const subscribed = ['secret', 'subscriberId'];
const anyKey = [
  'ApiKey realm="ringback", in="header", name="X-API-Key"',
  'ApiKey realm="ringback", in="query", name="api_key"',
  'ApiKey realm="ringback", in="cookie", name="X-API-KEY"',
];

const body = post('/subscribe', { callbackUrl: `${hook}/a?b=c` });
const query = post(`/subscribe?callbackUrl=${hook}/a&event=order.created`);
const multi = post('/subscribe', {
  inProgressUrl: `${hook}/1`,
  failedUrl: `${hook}/2`,
  successUrl: `${hook}/3`,
});
const variants = [body, query, multi];

const operation = '/paths/~1subscribe/post';
const inBody = '{$request.body#/callbackUrl}';
const inQuery = '{$request.query.callbackUrl}?event={$request.query.event}';

const rows: readonly Row[] = [
  // The variant body.
  ['body: `POST /subscribe`, JSON `{callbackUrl}` → 201', answers(body, 201, subscribed)],
  [
    'body: `callbackUrl` (string, uri, required)',
    says(
      `${operation}/requestBody/content/application~1json/schema/oneOf/0/$ref`,
      '#/components/schemas/SubscribeBody',
    ),
    says('/components/schemas/SubscribeBody/required', ['callbackUrl']),
    says('/components/schemas/SubscribeBody/properties/callbackUrl', {
      type: 'string',
      format: 'uri',
    }),
  ],
  [
    'body: label `myEvent`, target = `{$request.body#/callbackUrl}`; matches every event',
    registers(body, [['myEvent', '*', `${hook}/a?b=c`]]),
    says(`${operation}/callbacks/myEvent/${token(inBody)}/x-ringback-event`, '*'),
  ],
  [
    'body: 201 (webhook created)',
    says(`${operation}/responses/201/description`, /^Webhook created/),
    says(`${operation}/x-ringback-variants/body/status`, 201),
  ],

  // The variant query.
  ['query: `POST /subscribe?callbackUrl=…&event=…` → 201', answers(query, 201, subscribed)],
  [
    'query: both required',
    refuses(
      post(`/subscribe?callbackUrl=${hook}`),
      '400 no_variant',
      /also requires query\.event$/,
    ),
    refuses(post('/subscribe?event=a'), '400 no_variant', /also requires query\.callbackUrl$/),
  ],
  [
    'query: label `myEvent`, target = `{$request.query.callbackUrl}?event={$request.query.event}`; matches that event',
    registers(query, [['myEvent', 'order.created', `${hook}/a?event=order.created`]]),
    says(`${operation}/callbacks/myEvent/${token(inQuery)}/x-ringback-event`, /query\.event/),
  ],
  [
    'query: a target keeps the query that it already has (rule 11)',
    registers(post(`/subscribe?callbackUrl=${encodeURIComponent(`${hook}/a?b=c`)}&event=e`), [
      ['myEvent', 'e', `${hook}/a?b=c&event=e`],
    ]),
  ],
  [
    'query: the event is any non-empty text up to 256 characters (rule 30)',
    refuses(post(`/subscribe?callbackUrl=${hook}&event=`), '400 invalid_request', /query\.event/),
    refuses(
      post(`/subscribe?callbackUrl=${hook}&event=${'e'.repeat(257)}`),
      '400 invalid_request',
      /query\.event/,
    ),
  ],
  [
    'query: the response has a Link: `subscriberId` → parameter `Id` of `unsubscribeOperation`',
    ...['200', '201'].flatMap((status) => [
      says(
        `${operation}/responses/${status}/links/unsubscribe/operationId`,
        'unsubscribeOperation',
      ),
      says(`${operation}/responses/${status}/links/unsubscribe/parameters`, {
        Id: '$response.body#/subscriberId',
      }),
    ]),
  ],

  // The variant multi.
  ['multi: JSON `{inProgressUrl, failedUrl, successUrl}` → 200', answers(multi, 200, subscribed)],
  [
    'multi: (strings)',
    ...['inProgressUrl', 'failedUrl', 'successUrl'].map((name) =>
      says(`${operation}/requestBody/content/application~1json/schema/oneOf/1/properties/${name}`, {
        type: 'string',
        format: 'uri',
      }),
    ),
  ],
  [
    'multi: label `inProgress` groups three callbacks in that order; they match the events `inProgress`, `failed`, `success`',
    registers(multi, [
      ['inProgress', 'inProgress', `${hook}/1`],
      ['inProgress', 'failed', `${hook}/2`],
      ['inProgress', 'success', `${hook}/3`],
    ]),
  ],
  [
    'multi: in that order, whatever the order in the request',
    registers(post('/subscribe', { successUrl: `${hook}/3`, inProgressUrl: `${hook}/1` }), [
      ['inProgress', 'inProgress', `${hook}/1`],
      ['inProgress', 'success', `${hook}/3`],
    ]),
  ],
  ...subsets(['inProgress', 'failed', 'success']).map((events): Row => [
    `multi: any non-empty subset of the three URLs is accepted: ${events.join(', ')}`,
    registers(
      post('/subscribe', Object.fromEntries(events.map((one) => [`${one}Url`, `${hook}/${one}`]))),
      events.map((one) => ['inProgress', one, `${hook}/${one}`]),
      200,
    ),
  ]),
  [
    'multi: inactive callbacks are listed with the reason (rule 13)',
    async () => {
      const id = idIn(await plain.call(post('/subscribe', { failedUrl: hook })));
      const { json } = await plain.call({ path: `/subscriptions/${id}` });
      const shown = (json['callbacks'] as Shown[]).map(({ event, inactive }) => [event, inactive]);
      assert.deepEqual(shown, [
        ['inProgress', 'the request body has nothing at "/inProgressUrl"'],
        ['failed', undefined],
        ['success', 'the request body has nothing at "/successUrl"'],
      ]);
    },
  ],
  [
    'multi: one URL for two events is fine',
    registers(post('/subscribe', { failedUrl: hook, successUrl: hook }), [
      ['inProgress', 'failed', `${hook}/`],
      ['inProgress', 'success', `${hook}/`],
    ]),
  ],
  [
    'multi: bodies `callbackMessage1..3`',
    ...['inProgressUrl', 'failedUrl', 'successUrl'].map((name, index) =>
      says(
        `${operation}/callbacks/inProgress/${token(`{$request.body#/${name}}`)}/post/requestBody/content/application~1json/schema/$ref`,
        `#/components/schemas/callbackMessage${index + 1}`,
      ),
    ),
  ],

  // Unsubscribe.
  ['`POST /unsubscribe?Id=<subscriberId>` → 200', ends(body), ends(query), ends(multi)],
  [
    '`operationId: unsubscribeOperation`',
    says('/paths/~1unsubscribe/post/operationId', 'unsubscribeOperation'),
    says('/paths/~1unsubscribe/post/parameters/0/name', 'Id'),
    says('/paths/~1unsubscribe/post/parameters/0/in', 'query'),
    says('/paths/~1unsubscribe/post/parameters/0/required', true),
  ],
  ['unsubscribe: repeated → 200', repeatsUnsubscribe],
  [
    'unsubscribe: unknown → 404',
    refuses(post(`/unsubscribe?Id=sub_${'0'.repeat(26)}`), '404 not_found', /sub_0/),
    refuses(post('/unsubscribe?Id=nobody'), '404 not_found', /"nobody"/),
  ],
  ["unsubscribe: another app's → 404, and it stays active", leavesOthersAlone],
  ['unsubscribe: no Id → 400', refuses(post('/unsubscribe'), '400 invalid_request', /query\.Id/)],

  // Every variant.
  [
    'every variant answers with `subscriberId` and the signing `secret`',
    ...variants.map((call) => answersWithSecret(call)),
  ],
  [
    'how the document describes the one operation: OpenAPI semantics, rule 27',
    says(`${operation}/parameters/0/required`, false),
    says(`${operation}/parameters/1/required`, false),
    says(`${operation}/requestBody/required`, false),
    says(`${operation}/callbacks/myEvent`, [inBody, inQuery]),
    says(
      `${operation}/callbacks/inProgress`,
      ['inProgressUrl', 'failedUrl', 'successUrl'].map((name) => `{$request.body#/${name}}`),
    ),
    says(`${operation}/x-ringback-variants`, ['body', 'query', 'multi']),
  ],
  [
    'a request that fits no variant gets 400 with a message that says what was missing',
    refuses(
      post('/subscribe'),
      '400 no_variant',
      /"body" requires body#\/callbackUrl; .*"query" requires query\.callbackUrl and query\.event; .*"multi" requires body#\/inProgressUrl, body#\/failedUrl or body#\/successUrl/,
    ),
    refuses(post('/subscribe', {}), '400 no_variant', /found nothing that a variant requires/),
    refuses(
      post('/subscribe', { url: hook }),
      '400 no_variant',
      /"body" requires body#\/callbackUrl/,
    ),
  ],
  [
    'a request that fits two at once gets 400 with a message that says what was ambiguous',
    refuses(
      post('/subscribe', { callbackUrl: hook, successUrl: hook }),
      '400 no_variant',
      /several variants: found body#\/callbackUrl \(variant "body"\), body#\/successUrl \(variant "multi"\)/,
    ),
    refuses({ ...query, body: { callbackUrl: hook } }, '400 no_variant', /"body".*"query"/),
    refuses({ ...query, body: { failedUrl: hook } }, '400 no_variant', /"query".*"multi"/),
  ],
  [
    'a refused target gets 422 naming the field, in every variant (rule 14)',
    refuses(
      post('/subscribe', { callbackUrl: 'http://inside.example/' }),
      '422 target_refused',
      /forbidden address/,
      { field: 'body#/callbackUrl' },
    ),
    refuses(
      post('/subscribe?callbackUrl=http://169.254.169.254/&event=e'),
      '422 target_refused',
      /169\.254\.169\.254/,
      { field: 'query.callbackUrl' },
    ),
    refuses(
      post('/subscribe', { inProgressUrl: hook, failedUrl: 'ftp://hooks.example/' }),
      '422 target_refused',
      /scheme is "ftp"/,
      { field: 'body#/failedUrl' },
    ),
  ],
  ['a refused request registers nothing (rule 15)', registersNothing],

  // The callback request, as the document describes it.
  [
    'the callback request: `POST`, `application/json`, an object with the required string field `message`',
    ...callbackPointers().flatMap((at) => [
      says(at, ['x-ringback-variant', 'x-ringback-event', 'post']),
      says(`${at}/post/requestBody/required`, true),
      says(`${at}/post/requestBody/content`, ['application/json']),
      says(`${at}/post/requestBody/content/application~1json/schema/type`, 'object'),
      says(`${at}/post/requestBody/content/application~1json/schema/required`, ['message']),
      says(
        `${at}/post/requestBody/content/application~1json/schema/properties/message/type`,
        'string',
      ),
    ]),
  ],
  [
    'a receiver accepts it with 200 (any 2xx counts)',
    ...callbackPointers().map((at) =>
      says(`${at}/post/responses/200/description`, /Any 2xx status counts/),
    ),
  ],
  [
    'unsubscribing works both ways: a receiver that answers a callback with 410 Gone',
    ...callbackPointers().map((at) => says(`${at}/post/responses/410/description`, /ends/)),
  ],

  // Keys.
  [
    'API keys in three places: query `api_key`',
    ...variants.map((call) => accepts(inPlace(call, 'query'))),
  ],
  [
    'API keys in three places: header `X-API-Key`',
    ...variants.map((call) => accepts(inPlace(call, 'header'))),
  ],
  [
    'API keys in three places: cookie `X-API-KEY`',
    ...variants.map((call) => accepts(inPlace(call, 'cookie'))),
  ],
  [
    'header names are case-insensitive, query and cookie names are not (rule 23)',
    accepts({ ...body, key: null, headers: { 'x-ApI-kEy': plain.key } }),
    refuses({ ...body, key: null, path: `/subscribe?API_KEY=${plain.key}` }, '401 unauthorized'),
    refuses(
      { ...body, key: null, headers: { cookie: `x-api-key=${plain.key}` } },
      '401 unauthorized',
    ),
  ],
  [
    'schemes listed together in one requirement are AND (key + header `X-APP-ID`)',
    ...(['header', 'query', 'cookie'] as const).flatMap((place) => {
      const call = inPlace(body, place, both.key);
      const headers = { ...call.headers, 'x-app-id': both.appId };
      return [
        answers({ ...call, headers }, 201, subscribed, both),
        refuses(call, '401 unauthorized', /WWW-Authenticate/, { on: both }),
      ];
    }),
    refuses(
      { ...body, key: null, headers: { 'x-app-id': both.appId } },
      '401 unauthorized',
      /key/,
      { on: both },
    ),
  ],
  [
    'AND: X-APP-ID is valid when it equals the id of the key’s app (rule 29)',
    ...[`app_${'0'.repeat(26)}`, both.appId.toUpperCase(), both.appId.slice(4), ''].map((id) =>
      refuses({ ...body, headers: { 'x-app-id': id } }, '401 unauthorized', /key/, { on: both }),
    ),
  ],
  [
    'AND: the challenge names both',
    challenges(
      both,
      anyKey.map((challenge) => `${challenge}, and="X-APP-ID"`),
    ),
    async () => {
      const { json } = await both.call({ path: '/openapi.json', key: null });
      const pairs = ['ApiKeyHeader', 'ApiKeyQuery', 'ApiKeyCookie'].map((name) => ({
        [name]: [],
        AppId: [],
      }));
      const sessions = [{ ConsoleSession: [] }, { PortalSession: [] }];
      assert.deepEqual(json['security'], [...pairs, ...sessions]);
    },
  ],
  [
    'separate entries are OR',
    accepts({ ...inPlace(body, 'query'), headers: { 'x-api-key': 'wrong' } }),
    accepts({ ...inPlace(body, 'cookie'), path: '/subscribe?api_key=wrong' }),
    accepts({ ...body, headers: { cookie: 'X-API-KEY=wrong' } }),
    says('/security', [
      { ApiKeyHeader: [] },
      { ApiKeyQuery: [] },
      { ApiKeyCookie: [] },
      { ConsoleSession: [] },
      { PortalSession: [] },
    ]),
  ],
  [
    'requirements per operation: `[]` needs no key',
    ...['/healthz', '/readyz', '/openapi.json', '/openapi.yaml', '/docs'].flatMap((path) => [
      says(`/paths/${token(path)}/get/security`, []),
      ...[plain, both].map((on): Check => async () => {
        assert.equal((await on.call({ path, key: null })).status, 200, path);
      }),
    ]),
  ],
  [
    'requirements: `{}` allows anonymous requests, and all requirements are read from the document',
    readsTheDocument,
  ],

  // 401.
  [
    'a missing key: 401 with `WWW-Authenticate`',
    challenges(plain, anyKey),
    refuses({ ...body, key: null }, '401 unauthorized', /valid API key/),
  ],
  ['an invalid key: the same body whatever was wrong with the key', looksTheSame],
  [
    'one shared response definition',
    says('/components/responses/Unauthorized/headers/WWW-Authenticate/required', true),
    says('/components/responses/Unauthorized/content', ['application/problem+json']),
    async () => {
      const shared = '#/components/responses/Unauthorized';
      for (const [name, { responses }] of guarded()) {
        assert.deepEqual(responses['401'], { $ref: shared }, name);
      }
      const count = JSON.stringify(document).split(`"${shared}"`).length - 1;
      assert.equal(count, guarded().length + ofSessions);
    },
  ],

  // The document.
  [
    'the description is OpenAPI 3.0.4, served at `/openapi.json` and `/openapi.yaml`',
    says('/openapi', '3.0.4'),
    servesBoth(plain),
    servesBoth(both),
  ],
  [
    'with the callbacks, the link, the security schemes and the 401 in it',
    says(`${operation}/callbacks`, ['myEvent', 'inProgress']),
    says('/components/links/Unsubscribe/operationId', 'unsubscribeOperation'),
    says('/components/securitySchemes/ApiKeyQuery/name', 'api_key'),
    says('/components/securitySchemes/ApiKeyQuery/in', 'query'),
    says('/components/securitySchemes/ApiKeyHeader/name', 'X-API-Key'),
    says('/components/securitySchemes/ApiKeyHeader/in', 'header'),
    says('/components/securitySchemes/ApiKeyCookie/name', 'X-API-KEY'),
    says('/components/securitySchemes/ApiKeyCookie/in', 'cookie'),
    says('/components/securitySchemes/AppId/name', 'X-APP-ID'),
    says(`${operation}/responses/401/description`, /valid API key/),
  ],

  // Runtime expressions.
  ...expressionRows(),
];

describe('the interface', () => {
  for (const [clause, ...checks] of rows) {
    it(clause, async () => {
      assert.ok(checks.length > 0);
      for (const check of checks) await check();
    });
  }
});

/** The call succeeds with these fields, and no others. */
function answers(call: Call, status: number, fields: readonly string[], on = plain): Check {
  return async () => {
    const answer = await on.call(call);
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual(Object.keys(answer.json).toSorted(), fields);
  };
}

function accepts(call: Call): Check {
  return async () => {
    const answer = await plain.call(call);
    assert.ok([200, 201].includes(answer.status), answer.text);
  };
}

/** Label, event and URL of each callback, in order, as `GET /subscriptions/{id}` shows them. */
function registers(call: Call, expected: readonly (readonly string[])[], status?: number): Check {
  return async () => {
    const answer = await plain.call(call);
    assert.equal(answer.status, status ?? answer.status, answer.text);
    const { json } = await plain.call({ path: `/subscriptions/${idIn(answer)}` });
    assert.equal(json['id'], idIn(answer));
    assert.equal(json['state'], 'active');
    assert.equal(json['operation'], 'subscribeOperation');
    const active = (json['callbacks'] as Shown[]).filter(({ inactive }) => inactive === undefined);
    assert.deepEqual(
      active.map(({ label, event, method, url }) => [label, event, method, url]),
      expected.map(([label, event, url]) => [label, event, 'POST', url]),
    );
    const positions = active.map(({ position }) => position);
    assert.deepEqual(
      positions,
      positions.toSorted((a, b) => a - b),
    );
  };
}

interface Shown {
  position: number;
  label: string;
  event: string;
  method: string;
  url?: string;
  inactive?: string;
}

function answersWithSecret(call: Call): Check {
  return async () => {
    const answer = await plain.call(call);
    assert.match(idIn(answer), /^sub_[0-9a-z]{26}$/);
    assert.match(String(answer.json['secret']), /^whsec_[A-Za-z0-9+/]{43}=$/);
    const shown = await plain.call({ path: `/subscriptions/${idIn(answer)}/secret` });
    assert.deepEqual(shown.json, { secret: answer.json['secret'] });
  };
}

function refuses(
  call: Call,
  expected: string,
  detail = /./,
  { field, on = plain }: { field?: string; on?: Running } = {},
): Check {
  return async () => {
    const { status, json, headers, text } = await on.call(call);
    assert.equal(`${status} ${String(json['code'])}`, expected, text);
    assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/);
    assert.match(String(json['detail']), detail);
    const errors = (json['errors'] ?? []) as { field: string }[];
    if (field !== undefined)
      assert.deepEqual(
        errors.map((error) => error.field),
        [field],
      );
  };
}

/** Ends the subscription at once, with all its callbacks. */
function ends(call: Call): Check {
  return async () => {
    const id = idIn(await plain.call(call));
    const answer = await plain.call(post(`/unsubscribe?Id=${id}`));
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(answer.json), unsubscribable);
    assert.equal(answer.json['subscriberId'], id);
    const { json } = await plain.call({ path: `/subscriptions/${id}` });
    assert.equal(json['state'], 'ended');
  };
}

async function repeatsUnsubscribe(): Promise<void> {
  const id = idIn(await plain.call(multi));
  const ask = post(`/unsubscribe?Id=${id}`);
  const first = await plain.call(ask);
  world.advance(1000);
  const second = await plain.call(ask);
  assert.deepEqual([second.status, second.json], [200, first.json]);
}

async function leavesOthersAlone(): Promise<void> {
  const id = idIn(await plain.call({ ...body, key: other }));
  const unknown = `sub_${'0'.repeat(26)}`;
  const [foreign, missing] = [
    await plain.call(post(`/unsubscribe?Id=${id}`)),
    await plain.call(post(`/unsubscribe?Id=${unknown}`)),
  ];
  assert.equal(foreign.status, 404);
  const blank = ({ json }: Answer): string =>
    JSON.stringify({ ...json, requestId: '' }).replace(id, unknown);
  assert.equal(blank(foreign), blank(missing));
  const { json } = await plain.call({ path: `/subscriptions/${id}`, key: other });
  assert.equal(json['state'], 'active');
}

async function registersNothing(): Promise<void> {
  const before = await plain.call({ path: '/subscriptions?limit=500' });
  for (const callbackUrl of ['http://10.0.0.1/', 'ftp://x/', 7]) {
    await plain.call(post('/subscribe', { callbackUrl }));
  }
  await plain.call(post('/subscribe', { successUrl: hook, failedUrl: 'http://10.0.0.1/' }));
  assert.equal((await plain.call({ path: '/subscriptions?limit=500' })).text, before.text);
}

/**
 * Compares the value at the pointer in the served document, following references.
 * A list stands for the keys of an object.
 */
function says(pointer: string, expected: unknown): Check {
  return async () => {
    const found = valueAt(pointer);
    if (expected instanceof RegExp) assert.match(String(found), expected, pointer);
    else if (Array.isArray(expected) && !Array.isArray(found)) {
      assert.deepEqual(Object.keys(found as object), expected, pointer);
    } else assert.deepEqual(found, expected, pointer);
  };
}

function valueAt(pointer: string): unknown {
  let value: unknown = document;
  for (const one of pointer.split('/').slice(1)) {
    value = step(value, one.replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return value;
}

function step(value: unknown, name: string): unknown {
  const record = value as Record<string, unknown>;
  const ref = record['$ref'];
  if (typeof ref === 'string' && name !== '$ref') return step(valueAt(ref.slice(1)), name);
  assert.ok(Object.hasOwn(record, name), `the document has no ${name} at this place`);
  return record[name];
}

function token(text: string): string {
  return text.replaceAll('~', '~0').replaceAll('/', '~1');
}

function callbackPointers(): string[] {
  const callbacks = valueAt(`${operation}/callbacks`) as Record<string, Record<string, unknown>>;
  return Object.entries(callbacks).flatMap(([label, keys]) =>
    Object.keys(keys).map((key) => `${operation}/callbacks/${label}/${token(key)}`),
  );
}

interface Described {
  security?: unknown;
  responses: Record<string, unknown>;
}

function operations(): [string, Described][] {
  const paths = document['paths'] as Record<string, Record<string, Described>>;
  return Object.entries(paths).flatMap(([path, item]) =>
    ['get', 'put', 'post', 'patch', 'delete'].flatMap((method): [string, Described][] => {
      const found = item[method];
      return found === undefined ? [] : [[`${method} ${path}`, found]];
    }),
  );
}

/** Operations under the global requirement. */
function guarded(): [string, Described][] {
  return operations().filter(([, { security }]) => security === undefined);
}

/** Signing in, reading the session, and signing out: of the console and of the portal. */
const ofSessions = 6;

function inPlace(call: Call, place: 'header' | 'query' | 'cookie', key = plain.key): Call {
  if (place === 'header') return { ...call, key: null, headers: { 'x-api-key': key } };
  if (place === 'cookie') return { ...call, key: null, headers: { cookie: `X-API-KEY=${key}` } };
  const mark = call.path.includes('?') ? '&' : '?';
  return { ...call, key: null, path: `${call.path}${mark}api_key=${key}` };
}

function challenges(on: Running, expected: readonly string[]): Check {
  return async () => {
    for (const call of [...variants, post('/unsubscribe?Id=x'), { path: '/subscriptions' }]) {
      const { status, headers } = await on.call({ ...call, key: null });
      assert.equal(status, 401);
      assert.equal(headers.get('www-authenticate'), expected.join(', '));
    }
  };
}

async function looksTheSame(): Promise<void> {
  const expiresAt = new Date(world.nowMs() + 60_000).toISOString();
  const expired = await newKey(plain, { expiresAt });
  const revoked = await newKey(plain, {});
  await plain.call({ method: 'DELETE', path: `/keys/${revoked.slice(0, 12)}` });
  world.advance(120_000);
  const last = plain.key.endsWith('0') ? '1' : '0';
  const wrong = ['', 'x', 'rbk_', plain.key.slice(0, -1) + last, both.key, expired, revoked];
  const seen = new Set<string>();
  for (const key of [null, ...wrong]) {
    const { status, headers, json } = await plain.call({ ...body, key });
    const challenge = headers.get('www-authenticate');
    seen.add(JSON.stringify({ status, challenge, ...json, requestId: '' }));
  }
  assert.equal(seen.size, 1, [...seen].join('\n'));
  assert.match([...seen].join(), /"status":401/);
}

function servesBoth(on: Running): Check {
  return async () => {
    const asJson = await on.call({ path: '/openapi.json', key: null });
    const asYaml = await on.call({ path: '/openapi.yaml', key: null });
    assert.deepEqual([asJson.status, asYaml.status], [200, 200]);
    assert.match(asJson.headers.get('content-type') ?? '', /^application\/json/);
    assert.match(asYaml.headers.get('content-type') ?? '', /^application\/yaml/);
    assert.deepEqual(load(asYaml.text), JSON.parse(asJson.text));
  };
}

/** The same program with a changed document: another header, a public list, an anonymous subscribe. */
async function readsTheDocument(): Promise<void> {
  const changed = structuredClone(document) as unknown as {
    components: { securitySchemes: { ApiKeyHeader: { name: string } } };
    paths: Record<string, Record<string, { security?: unknown }>>;
  };
  changed.components.securitySchemes.ApiKeyHeader.name = 'X-Other-Key';
  const { '/subscribe': sub, '/subscriptions': list } = changed.paths;
  assert.ok(sub?.['post'] && list?.['get']);
  list['get'].security = [];
  sub['post'].security = [{ ApiKeyCookie: [] }, {}];
  await using on = await mountContract(changed);
  const ask = async (path: string, headers: Record<string, string>): Promise<number> =>
    (await fetch(on.url + path, { headers })).status;
  assert.equal(await ask('/subscriptions', {}), 200);
  assert.equal(await ask('/keys', { 'x-api-key': on.key }), 401);
  assert.equal(await ask('/keys', { 'x-other-key': on.key }), 200);
  const path = '/subscribe?callbackUrl=http://127.0.0.1:9999/&event=e';
  assert.equal((await fetch(on.url + path, { method: 'POST' })).status, 201);
}

/** Targets that contain the value of each expression, from one call under a document of this test. */
function expressionRows(): Row[] {
  const target = 'http://127.0.0.1:9999';
  const values: readonly (readonly [expression: string, text: string])[] = [
    ['$method', 'POST'],
    ['$statusCode', '201'],
    ['$request.path.region', 'eu west'],
    ['$request.query.tag', 'a&b'],
    ['$request.header.x-trace', 't/1'],
    ['$request.header.X-TRACE', 't/1'],
    ['$request.body#/order/id', '7'],
    ['$request.body#/lines/1/sku', 'second'],
    ['$request.body#/a~1b', 'slash'],
    ['$response.header.location', '{base}/streams/eu%20west/{id}'],
    ['$response.body#/made/id', '{id}'],
    ['$url', '{base}/streams/eu%20west?tag=a%26b'],
  ];
  const mixed = values.map(([expression]) => `${target}/v?is={${expression}}&end`);
  const keys = ['{$request.body#/url}', '$request.body#/url', ...mixed];
  const targets = exchange(keys, target);
  return [
    [
      'runtime expressions: alone',
      async () => {
        const { urls } = await targets();
        assert.deepEqual(urls.slice(0, 2), [`${target}/alone`, `${target}/alone`]);
      },
    ],
    ['runtime expressions: `$request.body`', wholeBody],
    ...values.map(([expression, text], index): Row => [
      `runtime expressions: \`${expression}\`, mixed with static text`,
      async () => {
        const { urls, base, id } = await targets();
        const is = text.replace('{base}', base).replace('{id}', id);
        assert.equal(urls[index + 2], `${target}/v?is=${encodeURIComponent(is)}&end`);
      },
    ]),
  ];
}

interface Exchanged {
  urls: string[];
  base: string;
  id: string;
}

function exchange(keys: readonly string[], target: string): () => Promise<Exchanged> {
  let once: Promise<Exchanged> | undefined;
  return async () => (once ??= subscribeWith(keys, target));
}

async function subscribeWith(keys: readonly string[], target: string): Promise<Exchanged> {
  await using on = await mountContract(streams(keys));
  const path = `/streams/eu%20west?tag=a%26b&api_key=${on.key}`;
  const answer = await fetch(on.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-Trace': 't/1' },
    body: JSON.stringify({
      url: `${target}/alone`,
      order: { id: 7 },
      lines: [{ sku: 'first' }, { sku: 'second' }],
      'a/b': 'slash',
    }),
  });
  const text = await answer.text();
  assert.equal(answer.status, 201, text);
  const { made } = JSON.parse(text) as { made: { id: string } };
  return { urls: await urlsOf(on.context, made.id), base: on.url, id: made.id };
}

async function urlsOf(
  { store, defaultApp }: Awaited<ReturnType<typeof mountContract>>['context'],
  id: string,
): Promise<string[]> {
  const input = { appNo: defaultApp.no, id: id.slice('sub_'.length) };
  const found = await store.read('subscription', input);
  assert.ok(found, id);
  return found.callbacks.map(({ url, inactive }) => inactive ?? url);
}

async function wholeBody(): Promise<void> {
  const described = streams(['{$request.body}']);
  await using on = await mountContract(described);
  const answer = await fetch(`${on.url}/streams/eu?tag=x&api_key=${on.key}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-trace': 't' },
    body: '"http://127.0.0.1:9999/whole"',
  });
  const { made } = (await answer.json()) as { made: { id: string } };
  assert.deepEqual(await urlsOf(on.context, made.id), ['http://127.0.0.1:9999/whole']);
}

/** A foreign document: a stream is created and ended; the link says where its id is. */
function streams(keys: readonly string[]): Record<string, unknown> {
  const text = { type: 'string' };
  const region = { name: 'region', in: 'path', required: true, schema: text };
  const id = { name: 'id', in: 'path', required: true, schema: text };
  const done = { responses: { 200: { description: 'Done.' } } };
  const made = { type: 'object', properties: { id: text } };
  return {
    openapi: '3.0.4',
    info: { title: 'Streams', version: '1' },
    security: [{ Key: [] }],
    components: { securitySchemes: { Key: { type: 'apiKey', in: 'query', name: 'api_key' } } },
    paths: {
      '/streams/{region}': {
        parameters: [region],
        post: {
          operationId: 'makeStream',
          parameters: [
            { name: 'tag', in: 'query', schema: text },
            { name: 'X-Trace', in: 'header', schema: text },
          ],
          requestBody: { content: { 'application/json': { schema: {} } } },
          responses: {
            201: {
              description: 'Made.',
              content: { 'application/json': { schema: { type: 'object', properties: { made } } } },
              links: {
                end: { operationId: 'endStream', parameters: { id: '$response.body#/made/id' } },
              },
            },
          },
          callbacks: Object.fromEntries(
            keys.map((key, index) => [`c${index}`, { [key]: { post: done } }]),
          ),
        },
      },
      '/streams/{region}/{id}': {
        parameters: [region, id],
        delete: { operationId: 'endStream', ...done },
      },
    },
  };
}

function post(path: string, json?: unknown): Call {
  return { method: 'POST', path, body: json };
}

function idIn({ json, status, text }: Answer): string {
  assert.ok(status < 300, text);
  return String(json['subscriberId']);
}

async function newKey(on: Running, fields: object): Promise<string> {
  const answer = await on.call(post('/keys', { name: 'k', scopes: ['subscribe'], ...fields }));
  assert.equal(answer.status, 201, answer.text);
  return String(answer.json['key']);
}

async function newApp(on: Running): Promise<string> {
  const answer = await on.call(post('/apps', { name: 'another' }));
  assert.equal(answer.status, 201, answer.text);
  return String(answer.json['key']);
}

function subsets(all: readonly string[]): string[][] {
  const count = 2 ** all.length;
  return Array.from({ length: count - 1 }, (_, index) =>
    all.filter((_name, bit) => ((index + 1) & (1 << bit)) !== 0),
  );
}
