// Invalid requests, one per row: the answer is a 4xx that names the field and what was expected, nothing is
// stored, and the service logs no error. The second table holds requests just within the limits.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { problems, type ProblemCode } from '../../src/core/errors/problem.ts';
import type { Resolver } from '../../src/egress/guard/resolve.ts';
import { start, type Answer, type Call, type Running } from './harness.ts';
import { sendBytes } from './send-bytes.ts';

const url = 'https://hooks.example/cb';
const json = { 'content-type': 'application/json' };
const bodyBytesMax = 1_048_576;
const urlBytesMax = 4_096;
const headBytesMax = 16_384;

/** Resolves hooks.example and its subdomains only. */
const resolver: Resolver = {
  resolve: async (name) =>
    name.endsWith('hooks.example')
      ? { kind: 'addresses', addresses: ['93.184.215.14'] }
      : { kind: 'missing' },
};

/** Text is sent as bytes, without an HTTP client. */
type Request = Call | string;

/** Status and code, the field that `errors` must name, and what `detail` must say. */
type Row = readonly [
  name: string,
  request: Request,
  expected: `4${string} ${ProblemCode}`,
  field?: string | undefined,
  says?: RegExp,
];

const service = await start({ resolver });
after(async () => service[Symbol.asyncDispose]());
const made = await furnish(service);

const wrongTypes: readonly (readonly [string, unknown, RegExp])[] = [
  ['a number', 1, /is a number/],
  ['null', null, /is null/],
  ['a list', [url], /is a list/],
  ['an object', { url }, /is an object/],
  ['a boolean', true, /is a boolean/],
];

const rows: readonly Row[] = [
  // Subscribe: the URL fields of every variant, of the wrong type.
  ...['callbackUrl', 'inProgressUrl', 'failedUrl', 'successUrl'].flatMap((name) =>
    wrongTypes.map(([what, value, says]): Row => {
      const request = subscribe({ [name]: value });
      return [`${name} is ${what}`, request, '400 invalid_request', `body#/${name}`, says];
    }),
  ),
  [
    'one URL of three is a number',
    subscribe({ inProgressUrl: url, failedUrl: 7, successUrl: url }),
    '400 invalid_request',
    'body#/failedUrl',
  ],

  // Subscribe: invalid or refused URLs (docs/openapi-semantics.md rule 14).
  ...(
    [
      ['an empty text', '', /no scheme/],
      ['a word', 'hook', /no scheme/],
      ['a relative path', '/hook', /no scheme/],
      ['a URL without a scheme', '//hooks.example/cb', /no scheme/],
      ['a scheme alone', 'https:', /no host/],
      ['a URL without a host', 'https:///cb', /no host/],
      ['ftp:', 'ftp://hooks.example/cb', /scheme is "ftp", expected http or https/],
      ['javascript:', 'javascript:alert(1)', /scheme is "javascript"/],
      ['data:', 'data:text/plain,x', /scheme is "data"/],
      ['file:', 'file:///etc/passwd', /scheme is "file"/],
      ['mailto:', 'mailto:me@hooks.example', /scheme is "mailto"/],
      ['a user name', 'https://me@hooks.example/cb', /user name or password/],
      ['a password, which stays secret', 'https://me:hunter2@hooks.example/', /\*\*\*@hooks/],
      ['a space', 'https://hooks.example/a b', /percent-encoded/],
      ['a line end', 'https://hooks.example/a\nb', /percent-encoded/],
      ['a backslash', 'https://hooks.example\\cb', /percent-encoded/],
      ['a port that is too high', 'https://hooks.example:65536/', /port cannot be parsed/],
      ['the port of a mail server', 'https://hooks.example:25/', /port is 25/],
      ['half an IPv6 address', 'http://[::1', /host or port cannot be parsed/],
      ['4,097 bytes', longUrl(urlBytesMax + 1), /4097 bytes, expected at most 4096/],
      ['a name that does not exist', 'https://nowhere.example/', /host has no address/],
      ['a private address', 'http://10.0.0.1/', /private, expected a public address/],
    ] as const
  ).map(([what, value, says]): Row => {
    const request = subscribe({ callbackUrl: value });
    return [`callbackUrl is ${what}`, request, '422 target_refused', 'body#/callbackUrl', says];
  }),
  [
    'the third URL of multi is refused, by its own name',
    subscribe({ inProgressUrl: url, failedUrl: url, successUrl: 'ftp://hooks.example/' }),
    '422 target_refused',
    'body#/successUrl',
  ],

  // Subscribe: which variant?
  [
    'no body, no query',
    subscribe(),
    '400 no_variant',
    'body#/callbackUrl',
    /needs query\.event|and/,
  ],
  [
    'an empty object',
    subscribe({}),
    '400 no_variant',
    'body#/successUrl',
    /variant "multi" requires/,
  ],
  ['only unknown fields', subscribe({ url }), '400 no_variant', 'body#/callbackUrl'],
  ['a list as body', subscribe([url]), '400 no_variant', 'body#/callbackUrl'],
  ['null as body', subscribe('null', json), '400 no_variant', 'body#/callbackUrl'],
  ['a text as body', subscribe('"https://x"', json), '400 no_variant', 'body#/callbackUrl'],
  ['a number as body', subscribe('42', json), '400 no_variant', 'body#/callbackUrl'],
  [
    'body and multi at once',
    subscribe({ callbackUrl: url, failedUrl: url }),
    '400 no_variant',
    'body#/failedUrl',
    /several variants: found body#\/callbackUrl .*body#\/failedUrl/,
  ],
  [
    'body and query at once',
    { ...subscribe({ callbackUrl: url }), path: `/subscribe?callbackUrl=${url}&event=a` },
    '400 no_variant',
    'query.callbackUrl',
    /several variants/,
  ],
  [
    'query and multi at once',
    { ...subscribe({ successUrl: url }), path: `/subscribe?callbackUrl=${url}&event=a` },
    '400 no_variant',
    'body#/successUrl',
  ],
  [
    'body beside half of query',
    { ...subscribe({ callbackUrl: url }), path: '/subscribe?event=a' },
    '400 no_variant',
    'query.event',
  ],

  // Subscribe: the query variant.
  [
    'event is missing',
    query(`callbackUrl=${url}`),
    '400 no_variant',
    'query.event',
    /query\.event/,
  ],
  ['callbackUrl is missing', query('event=a'), '400 no_variant', 'query.callbackUrl'],
  [
    'another case',
    query(`CallbackUrl=${url}&event=a`),
    '400 invalid_request',
    'query.CallbackUrl',
    /did you mean "callbackUrl"/,
  ],
  ['an empty event', query(`callbackUrl=${url}&event=`), '400 invalid_request', 'query.event'],
  ['U+0000', query(`callbackUrl=${url}&event=a%00`), '400 invalid_request', 'query.event'],
  [
    'an event name of 257 characters',
    query(`callbackUrl=${url}&event=${'e'.repeat(257)}`),
    '400 invalid_request',
    'query.event',
    /at most 256 characters, has 257/,
  ],
  [
    'callbackUrl twice',
    query(`callbackUrl=${url}&callbackUrl=${url}&event=a`),
    '400 invalid_request',
    'query.callbackUrl',
    /given 2 times, expected once/,
  ],
  [
    'event twice',
    query(`callbackUrl=${url}&event=a&event=b`),
    '400 invalid_request',
    'query.event',
    /given 2 times/,
  ],
  [
    'an empty callbackUrl',
    query('callbackUrl=&event=a'),
    '422 target_refused',
    'query.callbackUrl',
  ],
  [
    'a relative callbackUrl',
    query('callbackUrl=/x&event=a'),
    '422 target_refused',
    'query.callbackUrl',
  ],
  [
    'a refused callbackUrl',
    query('callbackUrl=http://192.168.0.1/&event=a'),
    '422 target_refused',
    'query.callbackUrl',
  ],
  [
    'a URL that is short enough only without ?event=',
    query(`callbackUrl=${longUrl(urlBytesMax)}&event=a`),
    '422 target_refused',
    'query.callbackUrl',
    /4104 bytes/,
  ],
  [
    'a broken escape in the query',
    query(`callbackUrl=${url}%zz&event=a`),
    '400 malformed_request',
    'query.callbackUrl',
    /percent-encoded/,
  ],
  [
    'an escape that is not UTF-8 in the query',
    query(`callbackUrl=${url}%ff&event=a`),
    '400 malformed_request',
    'query.callbackUrl',
  ],
  ['a broken escape in a name of the query', query('a%=1'), '400 malformed_request', 'query'],

  // Bodies that cannot be read.
  [
    'half a JSON object',
    subscribe('{"callbackUrl":', json),
    '400 malformed_request',
    'body',
    /JSON/,
  ],
  [
    'a trailing comma',
    subscribe(`{"callbackUrl":"${url}",}`, json),
    '400 malformed_request',
    'body',
  ],
  ['single quotes', subscribe(`{'callbackUrl':'${url}'}`, json), '400 malformed_request', 'body'],
  ['white space only', subscribe(' ', json), '400 malformed_request', 'body'],
  [
    'text after the JSON',
    subscribe(`{"callbackUrl":"${url}"}x`, json),
    '400 malformed_request',
    'body',
  ],
  [
    'bytes that are not UTF-8',
    subscribe(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), json),
    '400 malformed_request',
    'body',
    /UTF-8/,
  ],
  [
    'UTF-16',
    subscribe(new Uint8Array(Buffer.from(`\ufeff{"callbackUrl":"${url}"}`, 'utf16le')), json),
    '400 malformed_request',
    'body',
    /UTF-8/,
  ],
  [
    'the same key twice',
    subscribe(`{"callbackUrl":"${url}","callbackUrl":"${url}"}`, json),
    '400 malformed_request',
    'body',
    /"callbackUrl" twice/,
  ],
  [
    'the same key twice, once escaped',
    subscribe(`{"callbackUrl":"${url}","callback\\u0055rl":"${url}"}`, json),
    '400 malformed_request',
    'body',
    /"callbackUrl" twice/,
  ],
  [
    '__proto__',
    subscribe(`{"__proto__":{"callbackUrl":"${url}"}}`, json),
    '400 malformed_request',
    'body',
    /"__proto__"/,
  ],
  ['65 levels', subscribe(nested(65), json), '400 malformed_request', 'body', /deeper than 64/],
  [
    '100,000 levels',
    subscribe('['.repeat(100_000), json),
    '400 malformed_request',
    'body',
    /deeper/,
  ],
  [
    '50,001 values',
    subscribe(`{"x":[${'1,'.repeat(50_000)}1]}`, json),
    '400 malformed_request',
    'body',
    /more than 50000 values/,
  ],
  [
    '10,001 keys',
    subscribe(`{${Array.from({ length: 10_001 }, (_, at) => `"k${at}":1`).join()}}`, json),
    '400 malformed_request',
    'body',
    /more than 10000 keys/,
  ],
  [
    'a body of 1 MiB and 1 byte',
    subscribe(bodyOf(bodyBytesMax + 1), json),
    '413 body_too_large',
    undefined,
    /1,048,576 bytes/,
  ],

  // Bodies of another type.
  ...(
    [
      ['none', {}],
      ['text/plain', { 'content-type': 'text/plain' }],
      ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }],
      ['XML', { 'content-type': 'application/xml' }],
      ['a word', { 'content-type': 'json' }],
      ['a media range', { 'content-type': '*/*' }],
      ['text after a tab', { 'content-type': 'application/json\ta' }],
      ['two types', { 'content-type': 'application/json, text/plain' }],
      ['a parameter without a value', { 'content-type': 'application/json; charset' }],
      ['many spaces, at once', { 'content-type': `application/json${'; '.repeat(99)}x` }],
      ['utf-7', { 'content-type': 'application/json; charset=utf-7' }],
      ['utf-16', { 'content-type': 'application/json; charset="UTF-16"' }],
      ['latin1', { 'content-type': 'application/json;charset=iso-8859-1' }],
    ] as const
  ).map(([what, headers]): Row => {
    const request = subscribe(Buffer.from(`{"callbackUrl":"${url}"}`), headers);
    return [`content type: ${what}`, request, '415 unsupported_media_type', undefined, /expected/];
  }),
  ...['gzip', 'br', 'gzip, identity'].map((encoding): Row => {
    const request = subscribe({ callbackUrl: url }, { 'content-encoding': encoding });
    return [
      `content encoding ${encoding}`,
      request,
      '415 unsupported_media_type',
      undefined,
      /Content-Encoding is .*expected none/,
    ];
  }),

  // Idempotency-Key.
  [
    'an idempotency key of 256 characters',
    subscribe({ callbackUrl: url }, { 'idempotency-key': 'k'.repeat(256) }),
    '400 invalid_request',
    'header.Idempotency-Key',
    /at most 255/,
  ],
  [
    'an empty idempotency key',
    subscribe({ callbackUrl: url }, { 'idempotency-key': '' }),
    '400 invalid_request',
    'header.Idempotency-Key',
  ],
  [
    'an idempotency key that was used with another body',
    subscribe({ callbackUrl: `${url}/other` }, { 'idempotency-key': made.usedKey }),
    '422 idempotency_mismatch',
    'header.Idempotency-Key',
    /expected the same request, or a new key/,
  ],
  [
    'an idempotency key that was used with another variant',
    { ...query(`callbackUrl=${url}&event=a`), headers: { 'idempotency-key': made.usedKey } },
    '422 idempotency_mismatch',
    'header.Idempotency-Key',
  ],

  // Unsubscribe.
  ['no Id', post('/unsubscribe'), '400 invalid_request', 'query.Id', /required/],
  ['id instead of Id', post(`/unsubscribe?id=${made.sub}`), '400 invalid_request', 'query.Id'],
  ['Id in the body', post('/unsubscribe', { Id: made.sub }), '400 invalid_request', 'query.Id'],
  [
    'two Ids',
    post(`/unsubscribe?Id=${made.sub}&Id=${made.ended}`),
    '400 invalid_request',
    'query.Id',
    /2 times/,
  ],
  ['an empty Id', post('/unsubscribe?Id='), '400 invalid_request', 'query.Id'],
  ['a word as Id', post('/unsubscribe?Id=mine'), '404 not_found', undefined, /"mine"/],
  ['an unknown Id', post(`/unsubscribe?Id=${unknown('sub')}`), '404 not_found'],
  ['an Id without its prefix', post(`/unsubscribe?Id=${made.sub.slice(4)}`), '404 not_found'],
  [
    'an Id with another prefix',
    post(`/unsubscribe?Id=${made.sub.replace('sub', 'app')}`),
    '404 not_found',
  ],
  ['an Id in upper case', post(`/unsubscribe?Id=${made.sub.toUpperCase()}`), '404 not_found'],
  ['an Id with a space', post(`/unsubscribe?Id=${made.sub}%20`), '404 not_found'],
  ['a broken escape in the Id', post('/unsubscribe?Id=%zz'), '400 malformed_request', 'query.Id'],

  // Lists.
  ...['0', '501', 'abc', '1.5', '-1', '1e9', '', '0x10', '%205', '1&limit=2'].map((limit): Row => [
    `limit=${limit}`,
    { path: `/subscriptions?limit=${limit}` },
    '400 invalid_request',
    'query.limit',
    /must be|given 2 times/,
  ]),
  ...['x', '', '%00', 'c'.repeat(257), made.sub, '-1'].flatMap((cursor) =>
    ['/subscriptions', '/keys', '/apps'].map((path): Row => [
      `${path}?cursor=${cursor.slice(0, 40)}`,
      { path: `${path}?cursor=${cursor}` },
      '400 invalid_request',
      'query.cursor',
    ]),
  ),
  [
    'an unknown state',
    { path: '/subscriptions?state=open' },
    '400 invalid_request',
    'query.state',
    /"paused"/,
  ],

  // One subscription.
  ['a word as id', { path: '/subscriptions/mine' }, '404 not_found', undefined, /"mine"/],
  ['an unknown id', { path: `/subscriptions/${unknown('sub')}` }, '404 not_found'],
  ['an id in upper case', { path: `/subscriptions/${made.sub.toUpperCase()}` }, '404 not_found'],
  ['no id', { path: '/subscriptions/' }, '404 not_found'],
  ['an unknown secret', { path: `/subscriptions/${unknown('sub')}/secret` }, '404 not_found'],
  [
    'delete an unknown subscription',
    { method: 'DELETE', path: '/subscriptions/mine' },
    '404 not_found',
  ],
  [
    'a broken escape in the path',
    { path: '/subscriptions/%zz' },
    '400 malformed_request',
    undefined,
    /percent/,
  ],
  [
    'an escape that is not UTF-8 in the path',
    { path: '/subscriptions/%ff' },
    '400 malformed_request',
  ],
  ['an id of 5,000 characters', { path: `/subscriptions/${'a'.repeat(5000)}` }, '414 url_too_long'],

  // PATCH.
  ['PATCH without a body', patch(undefined), '400 invalid_request', 'body', /required/],
  ['PATCH with an empty object', patch({}), '400 invalid_request', 'body', /at least 1/],
  ['PATCH with a list', patch([]), '400 invalid_request', 'body', /object/],
  ['PATCH an unknown field', patch({ status: 'paused' }), '400 invalid_request', 'body#/status'],
  [
    'PATCH an unknown state',
    patch({ state: 'off' }),
    '400 invalid_request',
    'body#/state',
    /"paused"/,
  ],
  ['PATCH the state ended', patch({ state: 'ended' }), '400 invalid_request', 'body#/state'],
  ['PATCH the state null', patch({ state: null }), '400 invalid_request', 'body#/state'],
  ['PATCH no callback', patch({ callbacks: [] }), '400 invalid_request', 'body#/callbacks'],
  [
    'PATCH callbacks as object',
    patch({ callbacks: {} }),
    '400 invalid_request',
    'body#/callbacks',
    /list/,
  ],
  [
    'PATCH a callback as text',
    patch({ callbacks: [url] }),
    '400 invalid_request',
    'body#/callbacks/0',
  ],
  [
    'PATCH a callback without a position',
    patch({ callbacks: [{ url }] }),
    '400 invalid_request',
    'body#/callbacks/0/position',
    /required/,
  ],
  [
    'PATCH a callback with neither a URL nor events',
    patch({ callbacks: [{ position: 0 }] }),
    '400 invalid_request',
    'body#/callbacks/0',
    /changes nothing, expected url or events/,
  ],
  [
    'PATCH an unknown field of a callback',
    patch({ callbacks: [{ position: 0, url, event: '*' }] }),
    '400 invalid_request',
    'body#/callbacks/0/event',
  ],
  ...(
    [
      ['out of range', 3, /no callback 3: expected a position from 0 to 2/],
      ['far out of range', 1e300, /at most 63/],
      ['negative', -1, /at least 0/],
      ['not an integer', 0.5, /integer/],
      ['a text', '0', /integer/],
      ['null', null, /integer/],
    ] as const
  ).map(([what, position, says]): Row => {
    const request = patch({ callbacks: [{ position, url }] });
    return [
      `PATCH a position that is ${what}`,
      request,
      '400 invalid_request',
      'body#/callbacks/0/position',
      says,
    ];
  }),
  [
    'PATCH a position too large for a number',
    {
      ...patch({}),
      body: `{"callbacks":[{"position":${'9'.repeat(400)},"url":"${url}"}]}`,
      headers: json,
    },
    '400 invalid_request',
    'body#/callbacks/0/position',
    /must be an integer/,
  ],
  [
    'PATCH one position twice',
    patch({
      callbacks: [
        { position: 0, url },
        { position: 0, url },
      ],
    }),
    '400 invalid_request',
    'body#/callbacks/1/position',
    /0 is changed twice/,
  ],
  [
    'PATCH 65 callbacks',
    patch({ callbacks: Array.from({ length: 65 }, (_, position) => ({ position, url })) }),
    '400 invalid_request',
    'body#/callbacks',
    /at most 64/,
  ],
  ...(
    [
      ['a number', 7, '400 invalid_request'],
      ['a word', 'hook', '422 target_refused'],
      ['ftp:', 'ftp://hooks.example/', '422 target_refused'],
      ['private', 'http://10.0.0.1/', '422 target_refused'],
      ['a user name', 'http://me@hooks.example/', '422 target_refused'],
      ['a fragment', `${url}#top`, '422 target_refused'],
      ['too long', longUrl(urlBytesMax + 1), '422 target_refused'],
      [
        'a host that contains an expression',
        'http://{eventType}.hooks.example/',
        '422 target_refused',
      ],
    ] as const
  ).map(([what, value, expected]): Row => {
    const request = patch({ callbacks: [{ position: 1, url: value }] });
    return [`PATCH a URL that is ${what}`, request, expected, 'body#/callbacks/0/url'];
  }),
  [
    'PATCH two URLs, the second of which is refused',
    patch({
      callbacks: [
        { position: 0, url: `${url}/new` },
        { position: 2, url: 'ftp://x/' },
      ],
    }),
    '422 target_refused',
    'body#/callbacks/1/url',
  ],
  [
    'PATCH an ended subscription',
    patch({ state: 'paused' }, made.ended),
    '409 conflict',
    undefined,
    /it has ended/,
  ],
  ['PATCH an unknown subscription', patch({ state: 'paused' }, unknown('sub')), '404 not_found'],
  [
    'rotate the secret of an ended subscription',
    post(`/subscriptions/${made.ended}/secret/rotate`),
    '409 conflict',
    undefined,
    /it has ended/,
  ],
  [
    'rotate the secret of an unknown subscription',
    post(`/subscriptions/${unknown('sub')}/secret/rotate`),
    '404 not_found',
  ],

  // Keys.
  ['a key without a body', post('/keys'), '400 invalid_request', 'body', /required/],
  [
    'a key without a name',
    newKey({ name: undefined }),
    '400 invalid_request',
    'body#/name',
    /required/,
  ],
  [
    'a key without scopes',
    newKey({ scopes: undefined }),
    '400 invalid_request',
    'body#/scopes',
    /required/,
  ],
  ['a key with an empty name', newKey({ name: '' }), '400 invalid_request', 'body#/name'],
  [
    'a key with a number as name',
    newKey({ name: 1 }),
    '400 invalid_request',
    'body#/name',
    /string/,
  ],
  [
    'a key with a name of 129 characters',
    newKey({ name: 'n'.repeat(129) }),
    '400 invalid_request',
    'body#/name',
    /128/,
  ],
  ['a key with a tab in its name', newKey({ name: 'a\tb' }), '400 invalid_request', 'body#/name'],
  ['no scope', newKey({ scopes: [] }), '400 invalid_request', 'body#/scopes', /at least 1/],
  [
    'an unknown scope',
    newKey({ scopes: ['write'] }),
    '400 invalid_request',
    'body#/scopes/0',
    /"publish"/,
  ],
  [
    'the same scope twice',
    newKey({ scopes: ['read', 'read'] }),
    '400 invalid_request',
    'body#/scopes',
    /repeat/,
  ],
  [
    'scopes that are a string',
    newKey({ scopes: 'read' }),
    '400 invalid_request',
    'body#/scopes',
    /list/,
  ],
  ['a number as scope', newKey({ scopes: [1] }), '400 invalid_request', 'body#/scopes/0'],
  ['an unknown field of a key', newKey({ scope: 'read' }), '400 invalid_request', 'body#/scope'],
  ...(
    [
      ['a word', 'tomorrow'],
      ['a date', '2099-01-01'],
      ['without a zone', '2099-01-01T00:00:00'],
      ['a day that does not exist', '2099-02-30T00:00:00Z'],
      ['an hour that does not exist', '2099-01-01T24:00:00Z'],
      ['a leap second', '2099-12-31T23:59:60Z'],
      ['beyond the year 9999', '9999-12-31T23:59:59-23:59'],
      ['in the past', '2020-01-01T00:00:00Z'],
      ['a number', 4_070_908_800],
      ['null', null],
      ['an empty text', ''],
    ] as const
  ).map(([what, expiresAt]): Row => [
    `expiresAt is ${what}`,
    newKey({ expiresAt }),
    '400 invalid_request',
    'body#/expiresAt',
  ]),
  ['a word as key id', { path: '/keys/mine' }, '404 not_found', undefined, /"mine"/],
  ['an unknown key', { path: '/keys/rbk_00000000' }, '404 not_found'],
  ['a key id without its prefix', { path: `/keys/${made.keyId.slice(4)}` }, '404 not_found'],
  ['revoke an unknown key', { method: 'DELETE', path: '/keys/rbk_00000000' }, '404 not_found'],
  ['rotate an unknown key', post('/keys/rbk_00000000/rotate'), '404 not_found'],
  [
    'rotate a revoked key',
    post(`/keys/${made.revokedId}/rotate`),
    '409 conflict',
    undefined,
    /revoked/,
  ],
  ...(
    [
      ['negative', -1, /at least 0/],
      ['too large', 2_592_001, /at most 2592000/],
      ['not an integer', 1.5, /integer/],
      ['a text', '60', /integer/],
      ['null', null, /integer/],
    ] as const
  ).flatMap(([what, overlapSeconds, says]) =>
    [`/keys/${made.keyId}/rotate`, `/subscriptions/${made.sub}/secret/rotate`].map((path): Row => {
      const name = `overlapSeconds is ${what} at ${path.split('/', 2).join('/')}`;
      const field = 'body#/overlapSeconds';
      return [name, post(path, { overlapSeconds }), '400 invalid_request', field, says];
    }),
  ),
  [
    'an unknown field of a rotation',
    post(`/keys/${made.keyId}/rotate`, { overlap: 60 }),
    '400 invalid_request',
    'body#/overlap',
  ],

  // Apps.
  ['an app without a name', post('/apps', {}), '400 invalid_request', 'body#/name', /required/],
  ['an app with an empty name', post('/apps', { name: '' }), '400 invalid_request', 'body#/name'],
  [
    'an app with a name of 129 characters',
    post('/apps', { name: 'n'.repeat(129) }),
    '400 invalid_request',
    'body#/name',
  ],
  [
    'an app with a NUL in its name',
    post('/apps', { name: 'a\0' }),
    '400 invalid_request',
    'body#/name',
  ],
  [
    'an app with a name that is taken',
    post('/apps', { name: made.appName }),
    '409 conflict',
    'body#/name',
    /taken/,
  ],
  [
    'an app named default',
    post('/apps', { name: 'default' }),
    '409 conflict',
    'body#/name',
    /taken/,
  ],
  ['an unknown app', { path: `/apps/${unknown('app')}` }, '404 not_found'],
  ['a word as app id', { path: '/apps/mine' }, '404 not_found', undefined, /"mine"/],

  // Paths and methods.
  ['an unknown path', { path: '/nope' }, '404 not_found', undefined, /path/],
  ['the root', { path: '/' }, '404 not_found'],
  ['a path in another case', post('/Subscribe'), '404 not_found'],
  ['a trailing slash', post('/subscribe/'), '404 not_found'],
  ['an unknown path without a key', { path: '/nope', key: null }, '404 not_found'],
  [
    'GET /subscribe',
    { path: '/subscribe' },
    '405 method_not_allowed',
    undefined,
    /GET is not supported at this path, expected POST/,
  ],
  ['PUT /subscribe', { method: 'PUT', path: '/subscribe' }, '405 method_not_allowed'],
  ['OPTIONS /subscribe', { method: 'OPTIONS', path: '/subscribe' }, '405 method_not_allowed'],
  ['QUERY /subscribe', { method: 'QUERY', path: '/subscribe' }, '405 method_not_allowed'],
  ['DELETE /keys', { method: 'DELETE', path: '/keys' }, '405 method_not_allowed'],
  ['POST /healthz', post('/healthz', {}), '405 method_not_allowed', undefined, /GET/],
  [
    'PUT of a body without a type',
    {
      method: 'PUT',
      path: '/subscribe',
      body: new Uint8Array(9),
      headers: { 'content-type': 'x' },
    },
    '405 method_not_allowed',
  ],

  // Bytes that no HTTP client sends.
  ['garbage', 'hello\r\n\r\n', '400 malformed_request', undefined, /HTTP/],
  ['a TLS ClientHello', '\x16\x03\x01\x02\x00\x01\x00\x01', '400 malformed_request'],
  ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400 malformed_request'],
  ['an unknown method', 'FETCH /healthz HTTP/1.1\r\nHost: x\r\n\r\n', '400 malformed_request'],
  ['a bad byte in the path', 'GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n', '400 malformed_request'],
  ['a bad byte in a key', bytes('GET /keys', ['X-API-Key: \xff\xfe']), '401 unauthorized'],
  ['a bad byte in an Id', bytes('POST /unsubscribe?Id=\xff'), '400 malformed_request'],
  ['a control byte in a header', bytes('GET /keys', ['X-Note: a\x01b']), '400 malformed_request'],
  ['a space in a header name', bytes('GET /keys', ['X Note: a']), '400 malformed_request'],
  [
    'a head of more than 16 KiB',
    bytes('GET /healthz', [`X-Note: ${'a'.repeat(headBytesMax)}`]),
    '431 head_too_large',
    undefined,
    /16384 bytes/,
  ],
  ['a URL of more than 16 KiB', bytes(`GET /${'a'.repeat(headBytesMax)}`), '431 head_too_large'],
  [
    'no Host',
    'GET /healthz HTTP/1.1\r\n\r\n',
    '400 malformed_request',
    undefined,
    /0 Host headers/,
  ],
  [
    'two Hosts',
    bytes('GET /healthz', ['Host: y']),
    '400 malformed_request',
    undefined,
    /2 Host headers/,
  ],
  [
    'a body that is shorter than Content-Length',
    bytes('POST /subscribe', keyed('Content-Length: 99'), `{"callbackUrl":"${url}"}`),
    '400 malformed_request',
  ],
  [
    'a body that is longer than Content-Length',
    bytes('POST /subscribe', keyed('Content-Length: 9'), `{"callbackUrl":"${url}"}`),
    '400 malformed_request',
  ],
  [
    'two Content-Lengths',
    bytes('POST /subscribe', keyed('Content-Length: 2', 'Content-Length: 3'), '{} '),
    '400 malformed_request',
  ],
  [
    'Content-Length that is not a number',
    bytes('POST /subscribe', keyed('Content-Length: two'), '{}'),
    '400 malformed_request',
  ],
  [
    'Content-Length with chunked encoding',
    bytes('POST /subscribe', keyed('Content-Length: 2', 'Transfer-Encoding: chunked'), '0\r\n\r\n'),
    '400 malformed_request',
  ],
  [
    'chunks without a size',
    bytes('POST /subscribe', keyed('Transfer-Encoding: chunked'), 'zz\r\n{}\r\n0\r\n\r\n'),
    '400 malformed_request',
  ],
  [
    'two content types',
    bytes('POST /subscribe', keyed('Content-Type: text/plain', 'Content-Length: 2'), '{}'),
    '415 unsupported_media_type',
  ],
  [
    'a Content-Length above 1 MiB, before the body is sent',
    bytes('POST /subscribe', keyed(`Content-Length: ${bodyBytesMax + 1}`)),
    '413 body_too_large',
  ],
];

describe('bad input', () => {
  let before: unknown;
  it('starts from a known store', async () => {
    before = await stored(service);
    assert.equal(
      new Set(rows.map(([name]) => name)).size,
      rows.length,
      'each row has a unique name',
    );
  });

  for (const [name, request, expected, field, says] of rows) {
    it(`${name}: ${expected}`, async () => {
      const answer =
        typeof request === 'string'
          ? await sendBytes(service.url, request)
          : await service.call(request);
      checkProblem(answer, { expected, field, says });
    });
  }

  it('stores nothing', async () => {
    assert.deepEqual(await stored(service), before);
  });

  it('causes no error of the service', () => {
    const lines = service.logged().trim().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as { level: number; status?: number });
    assert.deepEqual(
      entries.filter(({ level, status = 0 }) => level >= 50 || status >= 500),
      [],
    );
    assert(entries.filter(({ status = 0 }) => status >= 400).length >= rows.length);
  });
});

/** Just within the limits: these would be refused if a limit were off by one. */
const accepted: readonly (readonly [
  name: string,
  request: Request,
  status: number,
  url?: string,
])[] = [
  ['a byte order mark', subscribe(`\ufeff{"callbackUrl":"${url}"}`, json), 201],
  ['64 levels', subscribe(`{"callbackUrl":"${url}","x":${nested(63)}}`, json), 201],
  ['49,900 values', subscribe(`{"callbackUrl":"${url}","x":[${'1,'.repeat(49_890)}1]}`, json), 201],
  ['a body of 1 MiB', subscribe(bodyOf(bodyBytesMax), json), 201],
  ['a URL of 4,096 bytes', subscribe({ callbackUrl: longUrl(urlBytesMax) }), 201, longUrl(4096)],
  ['a fragment, which is dropped (11)', subscribe({ callbackUrl: `${url}#top` }), 201, url],
  [
    'a fragment before ?event=',
    query(`callbackUrl=${encodeURIComponent(`${url}?x=1#top`)}&event=e`),
    201,
    `${url}?x=1&event=e`,
  ],
  ['unknown fields', subscribe({ callbackUrl: url, note: 1, toString: null }), 201, url],
  ['an event name of 128 characters', query(`callbackUrl=${url}&event=${'e'.repeat(128)}`), 201],
  [
    'UTF-8 in the query',
    query(`callbackUrl=${encodeURIComponent(`${url}/ü`)}&event=e`),
    201,
    `${url}/%C3%BC?event=e`,
  ],
  [
    'an idempotency key of 255 characters',
    subscribe({ callbackUrl: url }, { 'idempotency-key': 'k'.repeat(255) }),
    201,
  ],
  [
    'a type in upper case',
    subscribe(`{"callbackUrl":"${url}"}`, { 'content-type': 'Application/JSON' }),
    201,
  ],
  [
    'a quoted charset',
    subscribe(`{"callbackUrl":"${url}"}`, { 'content-type': 'application/json;  charset="UTF-8"' }),
    201,
  ],
  [
    'a type with a trailing semicolon',
    subscribe(`{"callbackUrl":"${url}"}`, { 'content-type': 'application/json;' }),
    201,
  ],
  [
    'a +json type',
    subscribe(`{"callbackUrl":"${url}"}`, { 'content-type': 'application/vnd.mine+json' }),
    201,
  ],
  [
    'content encoding identity',
    subscribe({ callbackUrl: url }, { 'content-encoding': 'identity' }),
    201,
  ],
  ['the smallest page', { path: '/subscriptions?limit=1' }, 200],
  ['the largest page', { path: '/subscriptions?limit=500' }, 200],
  ['HTTP/1.0 without a Host', 'GET /healthz HTTP/1.0\r\n\r\n', 200],
];

describe('input at the limits', () => {
  for (const [name, request, status, target] of accepted) {
    it(`accepts ${name}`, async () => {
      const answer =
        typeof request === 'string'
          ? await sendBytes(service.url, request)
          : await service.call(request);
      assert.equal(answer.status, status, answer.text);
      if (target === undefined) return;
      const { json: shown } = await service.call({
        path: `/subscriptions/${String(answer.json['subscriberId'])}`,
      });
      const [first] = shown['callbacks'] as { url: string }[];
      assert.equal(first?.url, target);
    });
  }

  it('accepts whitespace around the content type, which HTTP drops', async () => {
    const body = `{"callbackUrl":"${url}"}`;
    const head = [`Content-Type: \t application/json \t`, `Content-Length: ${body.length}`];
    const text = bytes('POST /subscribe', [`X-API-Key: ${service.key}`, ...head], body);
    assert.equal((await sendBytes(service.url, text)).status, 201);
  });
});

function checkProblem(
  { status, headers, json: body, text }: Answer,
  {
    expected,
    field,
    says,
  }: { expected: string; field: string | undefined; says: RegExp | undefined },
): void {
  const code = String(body['code']);
  assert.equal(`${status} ${code}`, expected, text);
  assert.match(headers.get('content-type') ?? '', /^application\/problem\+json(; charset=utf-8)?$/);
  assert.ok(Object.hasOwn(problems, code), code);
  const known = problems[code as ProblemCode];
  assert.equal(known.status, status);
  const requestId = headers.get('x-request-id');
  assert.match(requestId ?? '', /^req_[0-9a-z]{26}$/);
  const { detail, errors = [], ...rest } = body as { detail: string; errors?: unknown };
  assert.deepEqual(rest, { type: `/docs#${code}`, title: known.title, status, code, requestId });
  checkSentence(detail);
  if (says !== undefined) assert.match(detail, says);
  const faults = errors as { field: string; message: string }[];
  for (const { message } of faults) checkSentence(message);
  if (field !== undefined)
    assert.ok(
      faults.some((fault) => fault.field === field),
      `${field}: ${text}`,
    );
  if (status === 405) assert.match(headers.get('allow') ?? '', /^[A-Z]+(, [A-Z]+)*$/);
  if (status === 401) assert.match(headers.get('www-authenticate') ?? '', /^ApiKey /);
}

/** A message for people: no stack trace, no source path, no artifact such as [object Object]. */
function checkSentence(text: string): void {
  assert.match(text, /\w \w/);
  assert.doesNotMatch(text, /\[object|undefined|NaN|\bError\b|\n\s+at |node_modules|src\/|\.ts\b/);
  assert.doesNotMatch(text, /hunter2/);
}

/** Everything that a caller could have changed. */
async function stored({ call }: Running): Promise<unknown> {
  const lists = ['/subscriptions', '/keys', '/apps'].map((path) => `${path}?limit=500`);
  lists.push(`/subscriptions/${made.sub}/secret`);
  const answers = await Promise.all(lists.map(async (path) => call({ path })));
  assert.ok(answers.every(({ status }) => status === 200));
  const text = JSON.stringify(answers.map((answer) => answer.json));
  return JSON.parse(text, (name, value: unknown) => (name === 'lastUsedAt' ? undefined : value));
}

interface Made {
  sub: string;
  ended: string;
  keyId: string;
  revokedId: string;
  appName: string;
  usedKey: string;
}

/** Creates the records that the rows refer to. */
async function furnish({ call }: Running): Promise<Made> {
  const create = async (request: Call, field: string): Promise<string> => {
    const answer = await call(request);
    assert.ok(answer.status < 300, answer.text);
    return String(answer.json[field]);
  };
  const multi = { inProgressUrl: url, failedUrl: url, successUrl: url };
  const sub = await create(subscribe(multi), 'subscriberId');
  const usedKey = 'used before';
  const key = { 'idempotency-key': usedKey };
  const ended = await create(subscribe({ callbackUrl: url }, key), 'subscriberId');
  await create(post(`/unsubscribe?Id=${ended}`), 'subscriberId');
  const keyId = await create(newKey({}), 'id');
  const revokedId = await create(newKey({}), 'id');
  await create({ method: 'DELETE', path: `/keys/${revokedId}` }, 'id');
  const appName = await create(post('/apps', { name: 'taken' }), 'name');
  return { sub, ended, keyId, revokedId, appName, usedKey };
}

function post(path: string, body?: unknown): Call {
  return { method: 'POST', path, body };
}

function subscribe(body?: unknown, headers: Record<string, string> = {}): Call {
  return { ...post('/subscribe', body), headers };
}

function query(text: string): Call {
  return post(`/subscribe?${text}`);
}

function patch(body: unknown, id = made.sub): Call {
  return { method: 'PATCH', path: `/subscriptions/${id}`, body };
}

function newKey(change: object): Call {
  return post('/keys', { name: 'n', scopes: ['read'], ...change });
}

function unknown(prefix: 'sub' | 'app'): string {
  return `${prefix}_${'0'.repeat(26)}`;
}

function longUrl(length: number): string {
  return `${url}/`.padEnd(length, 'a');
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

function bodyOf(length: number): string {
  const head = `{"callbackUrl":"${url}","pad":"`;
  return `${head.padEnd(length - 2, 'x')}"}`;
}

function bytes(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: x', ...headers, '', body].join('\r\n');
}

function keyed(...headers: string[]): string[] {
  return [`X-API-Key: ${service.key}`, 'Content-Type: application/json', ...headers];
}
