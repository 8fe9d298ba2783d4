// Request bodies of foreign contracts over real sockets: forms, multipart, JSON media types, charsets, and
// the errors for invalid bodies.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bounds } from '../../src/contract/document/bounds.ts';
import type { Handlers } from '../../src/api/request/call.ts';
import { mountContract, type Mounted } from './mount-contract.ts';
import { rawClient, type RawAnswer, type RawClient } from './raw-client.ts';

const thing = {
  type: 'object',
  required: ['url'],
  properties: {
    url: { type: 'string' },
    count: { type: 'integer' },
    isOn: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'integer' } },
    piped: { type: 'array', items: { type: 'string' } },
    filter: { type: 'object', properties: { from: { type: 'integer' }, to: { type: 'integer' } } },
    spread: { type: 'object', properties: { r: { type: 'integer' }, g: { type: 'integer' } } },
    meta: { type: 'object', properties: { n: { type: 'integer' } } },
    rows: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } },
    file: { type: 'string', format: 'binary' },
    maybe: { type: 'integer', nullable: true },
  },
};

const encoding = {
  piped: { style: 'pipeDelimited', explode: false },
  filter: { style: 'deepObject' },
  meta: { contentType: 'application/json' },
};

function operation(content: Record<string, unknown>, required = true): object {
  const requestBody = { required, content };
  return { post: { requestBody, responses: { 200: { description: 'ok' } } } };
}

const document = {
  openapi: '3.0.4',
  info: { title: 'bodies', version: '1' },
  security: [{ H: [] }, { C: [] }],
  components: {
    securitySchemes: {
      H: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      C: { type: 'apiKey', in: 'cookie', name: 'X-API-KEY' },
    },
  },
  paths: {
    '/form': operation({ 'application/x-www-form-urlencoded': { schema: thing, encoding } }),
    '/parts': operation({ 'multipart/form-data': { schema: thing, encoding } }),
    '/related': operation({
      'multipart/related': {
        schema: {
          type: 'object',
          properties: { binary: { type: 'string', format: 'binary' }, jsonData: thing },
          required: ['binary', 'jsonData'],
        },
        encoding: { jsonData: { contentType: 'application/json' } },
      },
    }),
    '/json': operation({ 'application/json': { schema: thing } }),
    '/json-range': operation({ 'application/*+json': { schema: thing } }),
    '/any': operation({ '*/*': { schema: thing } }),
    '/maybe': operation({ 'application/json': { schema: thing } }, false),
    '/hook': {
      post: {
        requestBody: {
          content: {
            'application/x-www-form-urlencoded': { schema: thing },
            'multipart/related': {
              schema: { type: 'object', properties: { jsonData: thing } },
            },
          },
        },
        responses: { 201: { description: 'made' } },
        callbacks: { e: { '{$request.body#/url}': { post: { responses: {} } } } },
      },
    },
  },
};

/** Answers with the body as it was parsed. */
const handlers: Handlers = Object.fromEntries(
  Object.keys(document.paths).map((path) => [
    `POST ${path}`,
    async ({ request }) => ({ status: 200, body: { read: request.body ?? null } }),
  ]),
);

let on: Mounted;
let client: RawClient;

before(async () => {
  on = await mountContract(document, { handlers });
  client = rawClient(on.url);
});
after(async () => {
  client[Symbol.dispose]();
  await on[Symbol.asyncDispose]();
});

async function post(path: string, type: string | undefined, body: string): Promise<RawAnswer> {
  const headers: [string, string][] = [['X-API-Key', on.key]];
  if (type !== undefined) headers.push(['Content-Type', type]);
  return client.send({ method: 'POST', path, headers, body });
}

async function reads(path: string, type: string, body: string): Promise<unknown> {
  const { status, json, text } = await post(path, type, body);
  assert.equal(status, 200, text);
  return json['read'];
}

async function refuses(
  call: readonly [string, string | undefined, string],
  status: number,
  detail: RegExp,
): Promise<void> {
  const answer = await post(...call);
  assert.equal(answer.status, status, answer.text);
  assert.match(String(answer.json['detail']), detail);
}

const form = 'application/x-www-form-urlencoded';

describe('a form', () => {
  it('is converted to the types of its schema', async () => {
    const body =
      'url=http%3A%2F%2Fx%2F%3Fa%3D1+2&count=5&isOn=true&tags=1&tags=2&piped=a|b&maybe=&other=x';
    assert.deepEqual(await reads('/form', form, body), {
      url: 'http://x/?a=1 2',
      count: 5,
      isOn: true,
      tags: [1, 2],
      piped: ['a', 'b'],
      maybe: null,
      other: 'x',
    });
  });

  it('may spread objects and lists over several fields, or write them as JSON', async () => {
    const body = 'url=u&filter[from]=1&filter[to]=2&r=3&g=4&meta={"n":5}&tags[]=6&tags[]=7';
    assert.deepEqual(await reads('/form', form, body), {
      url: 'u',
      filter: { from: 1, to: 2 },
      spread: { r: 3, g: 4 },
      meta: { n: 5 },
      tags: [6, 7],
    });
    const rows = 'url=u&rows={"n":1}&rows={"n":2}&spread={"r":1}';
    assert.deepEqual(await reads('/form', `${form};charset=UTF-8`, rows), {
      url: 'u',
      rows: [{ n: 1 }, { n: 2 }],
      spread: { r: 1 },
    });
  });

  it('may have unusual names and empty fields', async () => {
    const body = 'url=u&__proto__=1&constructor=2&&=3&a=&b&x=1&x=2';
    assert.deepEqual(
      await reads('/form', form, body),
      JSON.parse(
        '{"url":"u","__proto__":"1","constructor":"2","":"3","a":"","b":"","x":["1","2"]}',
      ),
    );
  });

  it('is refused with what was expected', async () => {
    const cases: [string, number, RegExp][] = [
      ['url=u&count=x', 400, /body#\/count must be an integer, is "x"/],
      ['url=u&url=v', 400, /body#\/url is given 2 times, expected once/],
      ['url=u&filter[from]=x', 400, /body#\/filter\/from must be an integer, is "x"/],
      ['url=u&tags=1&tags=x', 400, /body#\/tags\/1 must be an integer/],
      ['url=u&meta={', 400, /body#\/meta is not valid JSON/],
      ['count=1', 400, /body#\/url is required/],
      ['url=%ff', 400, /not validly percent-encoded UTF-8/],
      ['url=%zz', 400, /not validly percent-encoded UTF-8/],
      [`url=u${'&a=1'.repeat(1_000)}`, 400, /more than 1000 fields/],
      ['', 400, /body is required/],
    ];
    for (const [body, status, detail] of cases)
      await refuses(['/form', form, body], status, detail);
    await refuses(['/json', form, 'url=u'], 415, /expected application\/json/);
    await refuses(
      ['/form', 'application/json', '{"url":"u"}'],
      415,
      /expected application\/x-www-form/,
    );
  });
});

/** A multipart body; each part is its headers, an empty line, and its content. */
function parts(...list: readonly (readonly [readonly string[], string])[]): string {
  const each = list.map(
    ([headers, text]) => `--b\r\n${headers.map((one) => `${one}\r\n`).join('')}\r\n${text}\r\n`,
  );
  return `preamble\r\n${each.join('')}--b--\r\nepilogue`;
}

function field(
  name: string,
  text: string,
  ...more: string[]
): readonly [readonly string[], string] {
  return [[`Content-Disposition: form-data; name="${name}"`, ...more], text];
}

describe('a multipart body', () => {
  const type = 'multipart/form-data; boundary=b';

  it('is read like a form; the value of a file is its name', async () => {
    const body = parts(
      field('url', 'http://x/\r\n--bx'),
      field('count', '5', 'Content-Type: text/plain; charset=utf-8'),
      field('tags', '1'),
      field('tags', '2'),
      field('meta', '{"n":1}', 'content-type: application/json'),
      [['Content-Disposition: form-data; name=file; filename="a%22b.bin"'], '\r\n\u0000'],
    );
    assert.deepEqual(await reads('/parts', 'multipart/form-data; boundary="b"', body), {
      url: 'http://x/\r\n--bx',
      count: 5,
      tags: [1, 2],
      meta: { n: 1 },
      file: 'a"b.bin',
    });
  });

  it('is refused with what was expected', async () => {
    const cases: [string, string, RegExp][] = [
      ['multipart/form-data', parts(field('url', 'u')), /no usable boundary/],
      [
        'multipart/form-data; boundary=c',
        parts(field('url', 'u')),
        /expected it to start with "--c"/,
      ],
      [
        type,
        '--b\r\nContent-Disposition: form-data; name="url"\r\n\r\nu',
        /does not end with "--b--"/,
      ],
      [type, parts([['Content-Type: text/plain'], 'u']), /a part without a name/],
      [type, parts([[`X: ${'x'.repeat(9_000)}`], 'u']), /a part without headers, or with too many/],
      [
        type,
        parts(field('url', 'u'), field('count', 'x')),
        /body#\/count must be an integer, is "x"/,
      ],
      [
        type,
        parts(field('url', 'u'), field('meta', '{', 'Content-Type: application/json')),
        /not valid JSON/,
      ],
      [
        type,
        parts(...Array.from({ length: 1_001 }, () => field('a', '1'))),
        /more than 1000 parts/,
      ],
      [type, parts(), /body#\/url is required/],
    ];
    for (const [contentType, body, detail] of cases) {
      await refuses(['/parts', contentType, body], 400, detail);
    }
  });

  it('is the root part if that is JSON (rule 9)', async () => {
    const json: readonly [string[], string] = [
      ['Content-Type: application/json', 'Content-ID: <j>'],
      '{"url":"u","count":1}',
    ];
    const bytes: readonly [string[], string] = [
      ['Content-Type: application/octet-stream', 'Content-ID: <n>'],
      'x',
    ];
    const related = 'multipart/related; boundary=b';
    assert.deepEqual(await reads('/related', related, parts(json, bytes)), { url: 'u', count: 1 });
    const named = `${related}; type="application/json"; start="<j>"`;
    assert.deepEqual(await reads('/related', named, parts(bytes, json)), { url: 'u', count: 1 });
    const wrong: readonly [string[], string] = [
      ['Content-Type: application/json'],
      '{"count":"x"}',
    ];
    await refuses(['/related', related, parts(wrong)], 400, /body#\/url is required/);
    await refuses(
      ['/related', related, parts(bytes, json)],
      400,
      /application\/octet-stream, expected a part of/,
    );
    await refuses(['/related', `${related}; start="<z>"`, parts(json)], 400, /no root part/);
    const bare = `${related}; start=j`;
    assert.deepEqual(await reads('/related', bare, parts(bytes, json)), { url: 'u', count: 1 });
    await refuses(['/related', bare, parts(json, json)], 400, /2 parts with the Content-ID j/);
  });

  it('with a JSON root part is read as UTF-8, within the limits of any body', async () => {
    const related = 'multipart/related; boundary=b';
    const root = (mediaType: string, json: string): readonly [string[], string] => [
      [`Content-Type: ${mediaType}`],
      json,
    ];
    const utf8 = root('application/json; charset="UTF-8"', '{"url":"ü"}');
    assert.deepEqual(await reads('/related', related, parts(utf8)), { url: 'ü' });
    const latin = root('application/json; charset=latin1', '{"url":"u"}');
    await refuses(['/related', related, parts(latin)], 400, /charset latin1, expected utf-8/);
    const broken = root('application/json', '{"url":');
    await refuses(['/related', related, parts(broken)], 400, /body is not valid JSON/);
    const twice = root('application/json', '{"url":"u","url":"v"}');
    await refuses(['/related', related, parts(twice)], 400, /url/);
    const many = Array.from({ length: bounds.fieldsMax + 1 }, () => utf8);
    await refuses(['/related', related, parts(...many)], 400, /more than 1000 parts/);
    await refuses(['/related', 'multipart/related', parts(utf8)], 400, /no usable boundary/);
  });
});

describe('JSON', () => {
  it('has several media types', async () => {
    for (const type of [
      'application/json',
      'application/json;charset=utf-8',
      'text/json',
      'application/vnd.x+json; v=1',
      'Application/JSON; charset="UTF8"',
    ]) {
      assert.deepEqual(await reads('/json', type, '{"url":"u"}'), { url: 'u' }, type);
      assert.deepEqual(await reads('/any', type, '{"url":"u"}'), { url: 'u' }, type);
    }
    assert.deepEqual(await reads('/json-range', 'application/merge-patch+json', '{"url":"u"}'), {
      url: 'u',
    });
    await refuses(
      ['/json-range', 'application/json', '{"url":"u"}'],
      415,
      /expected application\/\*\+json/,
    );
    await refuses(
      ['/json', 'application/json; charset=latin1', '{"url":"u"}'],
      415,
      /charset is "latin1"/,
    );
    await refuses(['/json', undefined, '{"url":"u"}'], 415, /Content-Type is missing/);
    await refuses(['/json', 'text/plain', '{"url":"u"}'], 415, /expected application\/json/);
  });

  it('may be omitted where it is not required', async () => {
    assert.equal(await reads('/maybe', 'application/json', ''), null);
    await refuses(['/json', 'application/json', ''], 400, /body is required/);
    await refuses(['/maybe', 'application/json', ' '], 400, /is not valid JSON/);
  });
});

describe('a callback target', () => {
  it('comes from a form or from the root part of multipart/related', async () => {
    const targets = ['http://127.0.0.1:8080/form', 'http://127.0.0.1:8080/part'];
    const [first = '', second = ''] = targets;
    const root = parts([['Content-Type: application/json'], JSON.stringify({ url: second })]);
    assert.equal((await post('/hook', form, `url=${encodeURIComponent(first)}`)).status, 201);
    assert.equal((await post('/hook', 'multipart/related; boundary=b', root)).status, 201);
    const page = { limit: 10, after: undefined };
    const { items } = await on.context.store.read('subscriptions', {
      appNo: on.context.defaultApp.no,
      page,
      state: undefined,
    });
    assert.deepEqual(
      items.flatMap(({ callbacks }) => callbacks.map(({ url }) => url)).toSorted(),
      targets,
    );
  });
});

describe('a key in a cookie (rule 26)', () => {
  it('is accepted with JSON bodies only', async () => {
    const cookie: [string, string] = ['Cookie', `X-API-KEY=${on.key}`];
    const cases: [string, string, string, number][] = [
      ['/json', 'application/json', '{"url":"u"}', 200],
      ['/form', form, 'url=u', 403],
      ['/parts', 'multipart/form-data; boundary=b', parts(field('url', 'u')), 403],
      [
        '/related',
        'multipart/related; boundary=b',
        parts([['Content-Type: application/json'], '{"url":"u"}']),
        403,
      ],
    ];
    for (const [path, type, body, status] of cases) {
      const headers = [cookie, ['Content-Type', type] as const];
      const answer = await client.send({ method: 'POST', path, headers, body });
      assert.equal(answer.status, status, `${path} ${answer.text}`);
    }
  });
});
