// `ringback check` as a person runs it: its output, the locations it names, and its exit code.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { showChecked } from '../../src/cli/check/check.ts';
import { newFolder, type Folder } from './ringback-process.ts';
import { runHere, type InProcess } from './in-process.ts';
import { isColoured, noTerminal, runOnTerminal } from './pty.ts';

const good = `openapi: 3.0.4
info: { title: Shop, version: '1.2' }
security: [{ key: [] }]
paths:
  /hooks:
    post:
      requestBody:
        content:
          application/json:
            schema: { type: object, required: [url], properties: { url: { type: string } } }
      responses: { 201: { description: Made } }
      callbacks:
        orderPaid:
          '{$request.body#/url}/paid':
            post:
              requestBody:
                content: { application/json: { example: { total: 12 }, schema: { type: object } } }
components:
  securitySchemes:
    key: { type: apiKey, in: header, name: X-API-Key }
`;

const sloppy = good
  .replace("'{$request.body#/url}/paid'", "'{request.body#/url}/paid'")
  .replace(
    'orderPaid:\n',
    "lost:\n          '{$request.query.no}':\n            post: {}\n        orderPaid:\n",
  );

const made = `responses:
        201:
          content:
            application/json:
              schema: { type: object, required: [id, price], properties: { id: {}, price: {} } }`;
const hook = `  /hooks/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    get: { responses: { 200: { description: Found } } }
    delete: { responses: { 204: { description: Gone } } }
`;

const deaf = good.replace('$request.body#/url', '$request.query.url');

async function check(
  folder: Folder,
  documents: Readonly<Record<string, string>>,
  ...flags: string[]
): Promise<InProcess> {
  const paths: string[] = [];
  for (const [name, text] of Object.entries(documents)) {
    await writeFile(join(folder.path, name), text);
    paths.push(join(folder.path, name));
  }
  const ended = await runHere(['check', ...paths, ...flags]);
  const short = (text: string): string => text.replaceAll(`${folder.path}/`, '');
  return { ...ended, out: short(ended.out), err: short(ended.err) };
}

describe('ringback check', () => {
  it('accepts a document that has only webhooks, and says how to subscribe to them', async () => {
    await using folder = await newFolder();
    const text = `openapi: 3.1.0
info: { title: Pets, version: '1' }
webhooks:
  pet.born: { post: { requestBody: { content: { application/json: { example: { id: 7 } } } } } }
`;
    const { code, out } = await check(folder, { 'pets.yaml': text }, '--manage-prefix', '/x');
    assert.equal(code, 0);
    const shown = stripVTControlCharacters(out);
    assert.match(shown, /^ {2}Publishable events, with an example payload\n {4}pet\.born +\S/m);
    assert.match(shown, /^ {2}Executable: 1 webhook: no operation has callbacks$/m);
    assert.match(
      shown,
      /^ {2}Webhooks are subscribed to with Ringback’s own POST \/x\/subscribe\.$/m,
    );
    const json = await check(folder, { 'pets.yaml': text }, '--json');
    const [{ webhooks }] = JSON.parse(json.out) as [{ webhooks: { event: string }[] }];
    assert.deepEqual(
      webhooks.map(({ event }) => event),
      ['pet.born'],
    );
  });

  it('follows references outside the folder of a document only if --contract-root allows it', async () => {
    await using folder = await newFolder();
    await mkdir(join(folder.path, 'api'));
    const outside = good.replace(
      /example: .*?, schema: \{ type: object \}/,
      "schema: { $ref: '../types.yaml#/paid' }",
    );
    await writeFile(join(folder.path, 'types.yaml'), 'paid: { type: object }');
    const documents = { 'api/shop.yaml': outside };
    const refused = await check(folder, documents);
    assert.equal(refused.code, 1);
    assert.match(refused.out, /Cannot follow \$ref "\.\.\/types\.yaml#\/paid"[^]*--contract-root/);
    const allowed = await check(folder, documents, '--contract-root', folder.path);
    assert.deepEqual([allowed.code, allowed.err], [0, '']);
    const other = await check(folder, documents, '--contract-root', join(folder.path, 'api'));
    assert.equal(other.code, 1);
  });

  it('describes a document, and exits with 0', async () => {
    await using folder = await newFolder();
    const { code, out, err } = await check(folder, { 'shop.yaml': good });
    assert.deepEqual([code, err], [0, '']);
    assert.equal(
      out,
      `shop.yaml
  Shop 1.2, OpenAPI 3.0.4

  POST /hooks
    key          a key in header X-API-Key
    response     201
      orderPaid  POST to the URL in the request body at /url + /paid, matches orderPaid
      example    POST /hooks
                 {"url":"https://example.com/callback"}
    errors       400, 401, 403, 413, 415, 422, 429, 503: not declared, sent as problem+json

  Publishable events, with an example payload
    orderPaid    {"total":12}

  Executable: 1 of 1 callback in 1 operation
  No operation ends a subscription; use Ringback’s own DELETE /subscriptions/{id}.

`,
    );
  });

  it('lists the parameters that callbacks send, without credentials', async () => {
    await using folder = await newFolder();
    const sending = good.replace(
      '            post:\n',
      `            post:
              parameters: [{ name: v, in: query, schema: { const: '1' } }]
              security: [{ hook: [], fixed: [] }]
`,
    )
      .concat(`    hook: { type: apiKey, in: query, name: k, x-ringback-value: '{$request.body#/url}' }
    fixed: { type: apiKey, in: header, name: X-Fixed, x-ringback-value: swordfish }
`);
    const { out, code } = await check(folder, { 'a.yaml': sending });
    assert.equal(code, 0, out);
    assert.deepEqual(
      out
        .split('\n')
        .flatMap((line) => /\bwith ((?:query|header|cookie) .*)$/u.exec(line)?.[1] ?? []),
      [
        'query v: 1',
        'query k: credential, {$request.body#/url}',
        'header X-Fixed: credential, (fixed)',
      ],
    );
    assert.equal(
      (await check(folder, { 'a.yaml': sending }, '--json')).out.includes('swordfish'),
      false,
    );
  });

  it('names line and column of repairs and of lost callbacks, and still exits with 0', async () => {
    await using folder = await newFolder();
    const { code, out } = await check(folder, { 'shop.yaml': sloppy });
    assert.equal(code, 0);
    const [, warnings = ''] = out.split('  Warnings\n');
    assert.equal(
      warnings.split('\n\n', 1)[0],
      `    shop.yaml:14:11
      #/paths/~1hooks/post/callbacks/lost/{$request.query.no}
      "$request.query.no" never resolves: the operation declares no such query parameter
    shop.yaml:17:11
      #/paths/~1hooks/post/callbacks/orderPaid/{request.body#~1url}~1paid
      repaired: found "request.body#/url", read as "$request.body#/url": the "$" was missing`,
    );
    assert.match(out, /lost +inactive: the request has no query parameter "no"/);
    assert.match(out, /Executable: 1 of 2 callbacks in 1 operation\n/);
  });

  it('explains what is passed on, what is registered, its subject and its end', async () => {
    await using folder = await newFolder();
    const jobs = good
      .replace('responses: { 201: { description: Made } }', made)
      .replace('components:', `${hook}components:`);
    const flags = ['--upstream', 'http://127.0.0.1:3000'];
    const { code, out, err } = await check(folder, { 'shop.yaml': jobs }, ...flags);
    assert.deepEqual([code, err], [0, '']);
    assert.equal(
      out,
      `shop.yaml
  Shop 1.2, OpenAPI 3.0.4

  POST /hooks
    key          decided by the API
    passed on    to the API unchanged, with the header Ringback-Subscription in request and answer
    registered   if the request has a callback URL and the API answers 201
    subject      the response at /id
    ended by     DELETE /hooks/{id}; 30d after it was made; its receivers, and DELETE
                 /ringback/subscriptions/{id}
      orderPaid  POST to the URL in the request body at /url + /paid, matches orderPaid
      example    POST /hooks
                 {"url":"https://example.com/callback"}
    errors       413, 422, 503: not declared, sent as problem+json

  DELETE /hooks/{id}
    key          decided by the API
    passed on    to the API, whose answer is returned unchanged
    ends         the subscriptions whose subject or id is path parameter id, if the API answers 2xx,
                 404 or 410

  Publishable events, with an example payload
    orderPaid    {"total":12}

  Executable: 1 of 1 callback in 1 operation; 1 other operation passed on without a further look

`,
    );
    const keyed = await check(folder, { 'shop.yaml': jobs }, ...flags, '--upstream-auth', 'keys');
    const keys = keyed.out.split('\n').filter((line) => line.startsWith('    key '));
    const key = '    key          a key in header X-API-Key; checked by Ringback';
    assert.deepEqual(keys, [key, key]);
    const registering = await check(folder, { 'shop.yaml': jobs }, '--operations', 'register');
    assert.match(registering.out, /\n    answered     by the API, not by Ringback\n/);
    assert.match(registering.out, /; 1 other operation left to the API\n/);
    const wrong = await check(folder, { 'shop.yaml': jobs }, '--operations', 'both');
    assert.match(wrong.err, /Cannot read --operations "both": expected answer or register/);
    const report = await check(folder, { 'shop.yaml': jobs }, '--json', ...flags);
    const [{ owner, subscribes }] = JSON.parse(report.out) as [Record<string, unknown>];
    assert.equal(owner, 'api');
    assert.partialDeepStrictEqual(subscribes, [
      { accepts: '201', subject: 'the response at /id', variants: [{ status: null }] },
    ]);
  });

  it('explains final callbacks, subjects, customers and expiries of the document, and replacing', async () => {
    await using folder = await newFolder();
    const extensions = [
      "x-ringback-subject: '$request.body#/url'",
      "x-ringback-customer: 'shop {$request.body#/url}'",
      'x-ringback-expires: P7D',
    ].join('\n      ');
    const jobs = good
      .replace('post:\n', 'put:\n')
      .replace('callbacks:', `${extensions}\n      callbacks:`)
      .replace("paid':\n            post:\n", '$&              x-ringback-final: true\n');
    const upstream = ['--upstream', 'http://127.0.0.1:3000'];
    const documents = { 'shop.yaml': jobs };
    const rows = async (...flags: string[]): Promise<string[]> => {
      const { code, out, err } = await check(folder, documents, ...flags);
      assert.deepEqual([code, err], [0, '']);
      const found = out.replaceAll(/\n {10,}(?=\S)/gu, ' ').split('\n');
      return found.filter((line) => /^ +(?:subject|customer|ended by|orderPaid  POST)/u.test(line));
    };
    const ends =
      'callback orderPaid, once it is delivered or dead; a later PUT to the same URL; ' +
      '7d after it was made; its receivers, and DELETE';
    const final = 'final: once it is delivered or dead, the subscription ends';
    const sent = 'POST to the URL in the request body at /url + /paid, matches orderPaid';
    const expected = (prefix: string): string[] => [
      '    subject      the request body at /url',
      '    customer     "shop " + the request body at /url',
      `    ended by     ${ends} ${prefix}/subscriptions/{id}`,
      `      orderPaid  ${sent}; ${final}`,
    ];
    assert.deepEqual(await rows(), expected(''));
    assert.deepEqual(await rows(...upstream), expected('/ringback'));
    assert.deepEqual(
      await rows(...upstream, '--manage-prefix', '/hooks-api'),
      expected('/hooks-api'),
    );
    const report = await check(folder, documents, '--json');
    const [{ subscribes }] = JSON.parse(report.out) as [{ subscribes: unknown }];
    const customer = '"shop " + the request body at /url';
    assert.partialDeepStrictEqual(subscribes, [{ customer }]);
    const { out } = await check(folder, documents, ...upstream);
    assert.match(out, /use Ringback’s own DELETE \/ringback\/subscriptions\/\{id\}\./);
  });

  it('exits with 1 if an operation registers no callback', async () => {
    await using folder = await newFolder();
    const { code, out, err } = await check(folder, { 'shop.yaml': deaf });
    assert.deepEqual([code, err], [1, 'Some callbacks in this document cannot be executed.\n']);
    assert.match(out, /Not executable:\n +POST \/hooks registers no callback: .* "url"\n/);
  });

  it('exits with 1 if an operation cannot be called', async () => {
    await using folder = await newFolder();
    const shut = good.replace('type: apiKey, in: header, name: X-API-Key', 'type: mutualTLS');
    const { code, out } = await check(folder, { 'shop.yaml': shut });
    assert.equal(code, 1);
    assert.match(out, /key +cannot be called/);
    assert.match(out, /POST \/hooks cannot be called/);
  });

  it('exits with 1 if a document does not load, names the location, and checks the others', async () => {
    await using folder = await newFolder();
    const documents = {
      'broken.yaml': 'openapi: 3.0.4\npaths:\n  /a: [\n',
      'broken.json': '{\n  "openapi": 3,,\n}',
      'bad.yaml': good.replace('post:\n      req', 'post:\n      x-ringback-scope: fly\n      req'),
      'shop.yaml': good,
    };
    const { code, out, err } = await check(folder, documents, '/no/such.yaml');
    assert.equal(code, 1);
    assert.match(
      out,
      /^broken.yaml\n {2}Cannot start a service with it:\n {4}broken.yaml:\d:\d: Cannot read/m,
    );
    assert.match(out, /broken.json:2:16: Cannot read/);
    assert.match(out, /bad.yaml:7:7: Cannot read the scope at\s+#\/paths/);
    assert.match(out, /Cannot open "\/no\/such.yaml"/);
    assert.match(out, /shop.yaml\n {2}Shop 1.2/);
    assert.match(err, /^Found problems in 4 of 5 files:\n {2}broken.yaml\n/);
    assert.ok(!/^\s+at /m.test(out + err), 'no stack trace');
  });

  it('follows references to other files, and names the file of a problem', async () => {
    await using folder = await newFolder();
    const callbacks = "paid:\n  '{request.body#/url}':\n    post: {}\n";
    await writeFile(join(folder.path, 'callbacks.yaml'), callbacks);
    const split = good.replace(
      /orderPaid:[\s\S]*(?=components:)/,
      "orderPaid: { $ref: 'callbacks.yaml#/paid' }\n",
    );
    const { code, out } = await check(folder, { 'shop.yaml': split });
    assert.equal(code, 0);
    assert.match(out, /callbacks.yaml:2:3\n +#\/paid\/\{request.body#~1url\}\n +repaired: /);
  });

  it('prints the same facts as JSON, one entry per file', async () => {
    await using folder = await newFolder();
    const { code, out } = await check(
      folder,
      { 'shop.yaml': sloppy, 'gone.yaml': 'a: [' },
      '--json',
    );
    assert.equal(code, 1);
    const [shop, gone, ...others] = JSON.parse(out) as Record<string, never>[];
    assert.deepEqual(others, []);
    assert.partialDeepStrictEqual(shop, {
      file: 'shop.yaml',
      title: 'Shop',
      version: '1.2',
      cannotRun: [],
      subscribes: [{ method: 'POST', path: '/hooks', scope: null }],
      events: [{ event: 'orderPaid', payload: { kind: 'sample', value: { total: 12 } } }],
      warnings: [
        { kind: 'warning', file: 'shop.yaml', line: 14, column: 11 },
        { kind: 'repair', file: 'shop.yaml', line: 17, column: 11 },
      ],
    });
    assert.partialDeepStrictEqual(gone, { file: 'gone.yaml', error: { pointer: '#' } });
  });

  it('reports a failure as JSON with --json', async () => {
    await using folder = await newFolder();
    const { code, err } = await check(folder, { 'deaf.yaml': deaf }, '--json');
    const message = 'Some callbacks in this document cannot be executed.';
    assert.deepEqual([code, JSON.parse(err)], [1, { error: { message } }]);
  });

  it('fits the terminal, in colours', { skip: noTerminal }, async () => {
    await using folder = await newFolder();
    const file = join(folder.path, 'shop.yaml');
    await writeFile(file, sloppy);
    const wide = await runOnTerminal(['check', file], { columns: 100 });
    assert.equal(wide.code, 0);
    assert.ok(isColoured(wide.raw));
    assert.match(wide.text, /^ {2}POST \/hooks$/m);
    const narrow = await runOnTerminal(['check', file], { columns: 60, env: { NO_COLOR: '1' } });
    assert.ok(!isColoured(narrow.raw));
    assert.match(narrow.text, /^ {2}Executable: 1 of 2 callbacks in 1 operation$/m);
    const long = narrow.text.split('\n').filter((line) => line.length > 60);
    assert.deepEqual(
      long.map((line) => line.trim().split(':')[0]),
      [file, file, file].slice(0, long.length),
    );
  });
});

describe('showChecked', () => {
  const failed = { file: 'a.yaml', error: { message: 'Cannot open "a.yaml"' } };

  it('is coloured on a screen only', () => {
    const plain = showChecked(failed, { isScreen: false, width: () => 100 });
    const coloured = showChecked(failed, { isScreen: true, width: () => 100 });
    assert.notEqual(coloured, plain);
    assert.equal(stripVTControlCharacters(coloured), plain);
    assert.equal(stripVTControlCharacters(plain), plain);
  });

  it('escapes control characters of a document', () => {
    const message = 'a \u001B[2J b \u009B31m c \u202E d \n e';
    const shown = showChecked(
      { file: 'a\u0007.yaml', error: { message } },
      { isScreen: false, width: () => 100 },
    );
    assert.match(shown, /^a\\u\{7\}.yaml\n/);
    assert.match(shown, /a \\u\{1b\}\[2J b \\u\{9b\}31m c \\u\{202e\} d e\n/);
  });

  it('wraps lines, and groups the same message at many locations', () => {
    const warning = { kind: 'warning', file: 'a.yaml', pointer: `#/${'x'.repeat(200)}` } as const;
    const shown = showChecked(
      {
        file: 'a.yaml',
        title: 'A',
        owner: 'ringback',
        version: '',
        openapi: '',
        subscribes: [],
        unsubscribes: [],
        otherOperations: 0,
        webhooks: [],
        events: [
          {
            event: `a${'.b'.repeat(40)}`,
            name: 'a',
            callbacks: [],
            payload: { kind: 'sample', value: 'x'.repeat(300) },
          },
        ],
        warnings: [1, 2, 3, 4, 5].map((line) => ({
          ...warning,
          line,
          column: 1,
          message: 'many words '.repeat(30).trim(),
        })),
        cannotRun: [],
      },
      { isScreen: false, width: () => 100 },
    );
    const lines = shown.split('\n');
    assert.deepEqual(
      lines.filter((line) => line.length > 100),
      [],
    );
    assert.equal(lines.filter((line) => line.includes('a.yaml:')).length, 3);
    assert.ok(lines.includes('    and at 2 other locations'));
    assert.equal(shown.match(/many\s+words/g)?.length, 30);
  });
});
