// Hostile documents: each is refused with a message or loaded, within bounded CPU time and 512 MB. They are loaded
// in another process, so that a crash or an endless loop fails only one test: the next one gets a new process.
import assert from 'node:assert/strict';
import { execFile, fork, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { bounds } from '../../src/contract/document/bounds.ts';
import type { Question, Report } from './hostile-child.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'ringback-hostile-'));
after(() => rmSync(folder, { recursive: true }));

/**
 * On an idle machine none takes three seconds; unbounded work takes minutes, or never ends. On a shared
 * core the same work can take two or three times as much CPU time.
 */
const cpuMsMax = 20_000;
/** A safety net for a child that would hang: passing tests take far less. */
const patienceMs = 300_000;
const megabytesMax = 512;

type Files = Readonly<Record<string, string>>;

function write(files: Files): string {
  const root = mkdtempSync(join(folder, 'd-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

/** The first file is the contract; payloads are checked as payloads of event `e`. */
async function load(files: Files, payloads: readonly unknown[] = []): Promise<Report> {
  const root = write(files);
  const paths = payloads.map((payload, at) => {
    const path = join(root, `payload-${at}`);
    writeFileSync(path, JSON.stringify(payload));
    return path;
  });
  return loadAt(join(root, Object.keys(files)[0] ?? ''), paths);
}

let child: ChildProcess | undefined;
after(() => child?.kill('SIGKILL'));

/** Must not run concurrently, because the cost of a load is the CPU time of the process meanwhile. */
async function loadAt(
  path: string,
  payloads: readonly string[] = [],
  contractRoot?: string,
): Promise<Report> {
  child ??= startChild();
  const report = await ask(child, { path, payloads, contractRoot });
  for (const { cpuMs } of [report, ...(report.checks ?? [])]) {
    assert.ok(cpuMs < cpuMsMax, `found ${cpuMs} ms of CPU, expected less than ${cpuMsMax}`);
  }
  return report;
}

function startChild(): ChildProcess {
  const started = fork(join(import.meta.dirname, 'hostile-child.ts'), {
    execArgv: [`--max-old-space-size=${megabytesMax}`],
    stdio: ['pipe', 'inherit', 'inherit', 'ipc'],
    // Coverage would distort the measured CPU time.
    env: { ...process.env, NODE_V8_COVERAGE: undefined },
  });
  started.on('exit', () => {
    if (child === started) child = undefined;
  });
  return started;
}

async function ask(asked: ChildProcess, question: Question): Promise<Report> {
  const answer = Promise.withResolvers<Report>();
  const end = (code: unknown, signal: unknown): void =>
    answer.reject(new Error(`It ended with ${String(code ?? signal)} at ${question.path}`));
  const net = setTimeout(() => asked.kill('SIGKILL'), patienceMs);
  asked.once('message', answer.resolve).once('exit', end);
  asked.send(question);
  try {
    return await answer.promise;
  } finally {
    clearTimeout(net);
    asked.off('message', answer.resolve).off('exit', end);
  }
}

function refused(report: Report, message: RegExp): void {
  assert.match(report.kind === 'refused' ? report.message : JSON.stringify(report), message);
  assert.equal(report.kind, 'refused');
}

function told(report: Report, message: RegExp): void {
  assert.equal(report.kind, 'loaded', report.message);
  assert.match(report.warnings.join('\n'), message);
}

const head = { openapi: '3.1.0', info: { title: 't', version: '1' } };
const url = { name: 'url', in: 'query', schema: { type: 'string' } };

/** A contract with one callback, for event `e`, whose payload has this schema. */
function contractOf(schema: unknown, more: object = {}): string {
  const post = {
    parameters: [url],
    callbacks: {
      e: {
        '{$request.query.url}': {
          post: { requestBody: { content: { 'application/json': { schema } } } },
        },
      },
    },
    responses: { 201: { description: 'made' } },
  };
  return JSON.stringify({ ...head, paths: { '/hook': { post } }, ...more });
}

function schemas(list: Readonly<Record<string, unknown>>): object {
  return { components: { schemas: list } };
}

function ref(name: string | number): { $ref: string } {
  return { $ref: `#/components/schemas/s${name}` };
}

/** `s0` … `s<n-1>`, each made from its number. */
function numbered(count: number, make: (at: number) => unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, make(at)]));
}

function times(count: number, make: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => make(at)).join('');
}

const megabyte = 1_048_576;
const start = 'openapi: 3.0.4\ninfo: { title: t, version: "1" }\n';

describe('a large document', { concurrency: 1 }, () => {
  it('of 10 MB of ordinary YAML or JSON is loaded', async () => {
    const path = (at: number): string =>
      `  /p${at}:\n    get:\n      summary: hello there\n      responses:\n        '200':\n          description: ${'ok '.repeat(300)}\n`;
    const yaml = `${start}paths:\n${times(10_000, path)}`;
    assert.ok(yaml.length > 9 * megabyte);
    assert.equal((await load({ 'a.yaml': yaml })).operations, 10_000);
    const operation = { get: { responses: { 200: { description: 'ok '.repeat(300) } } } };
    const paths = Object.fromEntries(
      Array.from({ length: 11_000 }, (_, at) => [`/p${at}`, operation]),
    );
    const json = JSON.stringify({ ...head, paths });
    assert.ok(json.length > 9 * megabyte);
    assert.equal((await load({ 'a.json': json })).operations, 11_000);
  });

  it('of 10 MB and more of hostile text is refused or loaded', async () => {
    const rest = 10 * megabyte;
    const many: [string, string, RegExp][] = [
      ['a.yaml', `${start}x-a: [${'[],'.repeat(rest / 3)}]`, /contains more than 2000000 values/],
      ['a.yaml', `${start}x-a:\n${times(700_000, (at) => `  k${at}: &a${at} v\n`)}`, /./],
      ['a.json', `{"x-a": [${'[],'.repeat(rest / 3)}[]]}`, /contains more than 2000000 values/],
      ['a.json', `{"x-a": ${'['.repeat(rest)}`, /nested deeper than 200 levels/],
      ['a.json', `{"x-a": ${'{"a":'.repeat(rest / 5)}`, /nested deeper than 200 levels/],
      ['a.yaml', `x-a: ${'['.repeat(rest)}`, /nesting exceeded/],
      ['a.yaml', '- '.repeat(rest / 2), /nesting exceeded/],
      ['a.yaml', `${start}x-a: "${'x'.repeat(40 * megabyte)}"`, /bytes, expected at most 33554432/],
    ];
    for (const [name, text, message] of many) {
      const report = await load({ [name]: text });
      if (report.kind === 'refused') assert.match(report.message, message);
    }
  });

  it('of many files has one budget for all of them', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 8 }, (_, at) => [`f${at}.json`, `{"a": "${'x'.repeat(6 * megabyte)}"}`]),
    );
    const many = Object.keys(files).map((name) => ({ $ref: `${name}#/a` }));
    const report = await load({ 'a.json': contractOf({ allOf: many }), ...files });
    told(report, /it has \d+ bytes, expected at most \d+/);
  });

  it('with 100,000 operations, or millions of callbacks, is refused', async () => {
    const paths = times(100_000, (at) => `"/p${at}":{"get":{}},`);
    const operations = `{"openapi":"3.0.4","paths":{${paths.slice(0, -1)}}}`;
    refused(await load({ 'a.json': operations }), /more than 20000 operations/);
    const callback = { '{$request.query.url}': { post: {} } };
    const post = { parameters: [url], callbacks: { $ref: '#/x-callbacks' } };
    const more = {
      paths: Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`/p${at}`, { post }])),
      'x-callbacks': Object.fromEntries(
        Array.from({ length: 1_000 }, (_, at) => [`c${at}`, callback]),
      ),
    };
    refused(await load({ 'a.json': JSON.stringify({ ...head, ...more }) }), /more than 10000/);
  });

  it('whose references multiply is refused', async () => {
    const item = {
      parameters: Array.from({ length: 5_000 }, (_, at) => ({ ...url, name: `n${at}` })),
      post: {},
    };
    const paths = Object.fromEntries(
      Array.from({ length: 15_000 }, (_, at) => [`/p${at}`, { $ref: '#/components/pathItems/a' }]),
    );
    const document = { ...head, paths, components: { pathItems: { a: item } } };
    refused(await load({ 'a.json': JSON.stringify(document) }), /takes more than 3000000 steps/);
  });

  it('with 20,000 subscribe and unsubscribe operations is loaded', async () => {
    const hook = (at: number): [string, object][] => [
      [
        `/p${at}`,
        {
          post: {
            parameters: [url],
            callbacks: { $ref: '#/x-callbacks' },
            responses: {
              201: {
                links: {
                  end: { operationId: `end${at}`, parameters: { id: '$response.body#/id' } },
                },
              },
            },
          },
        },
      ],
      [
        `/p${at}/{id}`,
        { delete: { operationId: `end${at}`, parameters: [{ name: 'id', in: 'path' }] } },
      ],
    ];
    const paths = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => hook(at)).flat());
    const document = {
      ...head,
      paths,
      'x-callbacks': { e: { '{$request.query.url}': { post: {} } } },
    };
    const report = await load({ 'a.json': JSON.stringify(document) });
    assert.equal(report.operations, 20_000, report.message);
  });

  it('with tens of thousands of faults gets a thousand warnings', async () => {
    const operation = { parameters: [{ name: 5 }, { $ref: '#/gone' }], security: [{ Ghost: [] }] };
    const paths = Object.fromEntries(
      Array.from({ length: 15_000 }, (_, at) => [`/p${at}`, { get: operation }]),
    );
    const report = await load({ 'a.json': JSON.stringify({ ...head, paths }) });
    assert.equal(report.warnings.length, 1_001);
    assert.match(report.warnings.at(-1) ?? '', /the rest is omitted/);
  });
});

describe('aliases in YAML', { concurrency: 1 }, () => {
  it('that stand for billions of values are refused', async () => {
    const laughs = times(12, (at) => `  a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(10)}]\n`);
    refused(
      await load({ 'a.yaml': `${start}x-a:\n  a0: &a0 lol\n${laughs}` }),
      /contains more than/,
    );
    const wide = `  a0: &a0 ${'x'.repeat(megabyte)}\n  b: [${'*a0,'.repeat(1_000)}]\n`;
    refused(
      await load({ 'a.yaml': `${start}x-a:\n${wide}` }),
      /expands to more than \d+ characters/,
    );
    const merged = times(
      20,
      (at) => `  m${at + 1}: &m${at + 1} { <<: *m${at}, x: *m${at}, y: *m${at} }\n`,
    );
    refused(
      await load({ 'a.yaml': `${start}x-a:\n  m0: &m0 { a: 1 }\n${merged}` }),
      /contains more than/,
    );
  });

  it('that contain themselves are refused', async () => {
    refused(await load({ 'a.yaml': `${start}x-a: &a { b: [*a] }` }), /a value contains itself/);
    refused(await load({ 'a.yaml': `${start}paths: &a { /a: *a }` }), /a value contains itself/);
  });

  it('that are nested deeply through each other are refused', async () => {
    const deep = times(300, (at) => `  a${at + 1}: &a${at + 1} [*a${at}]\n`);
    refused(
      await load({ 'a.yaml': `${start}x-a:\n  a0: &a0 lol\n${deep}` }),
      /nested deeper than 200/,
    );
  });
});

describe('references', { concurrency: 1 }, () => {
  it('in a chain of a thousand are followed or given up, wherever they are', async () => {
    const row = numbered(1_001, (at) => (at === 1_000 ? { type: 'string' } : ref(at + 1)));
    const rows = await load({ 'a.json': contractOf(ref(0), schemas(row)) }, [5, 'x']);
    for (const { faults } of rows.checks) {
      assert.match(
        faults[0]?.message ?? '',
        new RegExp(`more than ${bounds.checkDepthMax} schemas`),
      );
    }
    const items = numbered(1_001, (at) =>
      at === 1_000
        ? { post: { parameters: [url] } }
        : { $ref: `#/components/pathItems/s${at + 1}` },
    );
    const paths = { '/a': { $ref: '#/components/pathItems/s0' } };
    const document = JSON.stringify({ ...head, paths, components: { pathItems: items } });
    told(await load({ 'a.json': document }), /it follows a chain of more than 32 references/);
    const nested = numbered(1_001, (at) => ({
      properties: { a: at === 1_000 ? {} : ref(at + 1) },
    }));
    assert.equal(
      (await load({ 'a.json': contractOf(ref(0), schemas(nested)) }, [{}])).kind,
      'loaded',
    );
    const all = numbered(1_501, (at) => ({ allOf: at === 1_500 ? [{}] : [ref(at + 1)] }));
    refused(
      await load({ 'a.json': contractOf(ref(0), schemas(all)) }),
      /chain of more than 1000 schemas/,
    );
  });

  it('that depend on each other are resolved in bounded time', async () => {
    // Each one takes two steps that both depend on the previous one.
    const doubled = numbered(60, (at) =>
      at === 0
        ? { k: { k: { k: {} } } }
        : {
            $ref: `#/components/schemas/s${at - 1}/k/k`,
            k: { $ref: `#/components/schemas/s${at - 1}/k` },
          },
    );
    const report = await load({ 'a.json': contractOf(ref(59), schemas(doubled)) }, [{}]);
    assert.equal(report.kind, 'loaded');
  });

  it('in cycles of every kind are handled', async () => {
    const self = (kind: string): object => ({
      components: { [kind]: { a: { $ref: `#/components/${kind}/a` } } },
    });
    for (const kind of [
      'schemas',
      'pathItems',
      'callbacks',
      'parameters',
      'responses',
      'links',
      'requestBodies',
      'securitySchemes',
    ]) {
      const there = { $ref: `#/components/${kind}/a` };
      const post = {
        parameters: [kind === 'parameters' ? there : url],
        callbacks: {
          e:
            kind === 'callbacks'
              ? there
              : {
                  '{$request.query.url}':
                    kind === 'pathItems'
                      ? there
                      : {
                          post: {
                            requestBody:
                              kind === 'requestBodies'
                                ? there
                                : { content: { 'application/json': { schema: there } } },
                          },
                        },
                },
        },
        requestBody:
          kind === 'requestBodies' ? there : { content: { 'application/json': { schema: there } } },
        responses: { 201: kind === 'responses' ? there : { links: { a: there } } },
        security: [{ a: [] }],
      };
      const paths = { '/a': kind === 'pathItems' ? there : { post }, '/b': { post } };
      const document = JSON.stringify({ ...head, paths, ...self(kind) });
      assert.equal((await load({ 'a.json': document }, [{}])).kind, 'loaded', kind);
    }
  });

  it('in cycles across files are handled, and a schema may be split over files', async () => {
    const report = await load(
      {
        'a.json': contractOf({ $ref: 'b.yaml#/x' }),
        'b.yaml':
          'x: { type: object, properties: { n: { type: integer }, next: { $ref: c.yaml } } }',
        'c.yaml': '{ $ref: "b.yaml#/x" }',
      },
      [{ next: { next: { n: 1 } } }, { next: { next: { n: 'x' } } }],
    );
    assert.deepEqual(
      report.checks.map(({ faults }) => faults.map(({ field }) => field)),
      [[], ['/next/next/n']],
    );
    const round = await load({
      'a.json': contractOf({ $ref: 'b.yaml' }),
      'b.yaml': '$ref: c.yaml',
      'c.yaml': '$ref: b.yaml',
    });
    told(round, /b\.yaml/);
  });
});

describe('referenced files', { concurrency: 1 }, () => {
  const cases: [string, string, RegExp][] = [
    ['of a URL', 'https://127.0.0.1:1/x.yaml', /is a network URL/],
    ['of a file URL', 'file:///etc/x.yaml', /is a network URL/],
    ['without a scheme', '//127.0.0.1:1/x.yaml', /is a network URL/],
    ['hidden', '.secret/x.yaml', /the path contains the hidden file or folder "\.secret"/],
    ['with a zero byte', 'a%00.yaml', /Cannot open/],
    ['a pipe', 'pipe.yaml', /it is not a regular file/],
    ['a folder', 'folder.yaml', /it is not a regular file/],
    ['a link to a secret', 'link.yaml', /whose target does not end in/],
    ['a link in a circle', 'round.yaml', /ELOOP/],
    ['not there', 'gone.yaml', /ENOENT/],
  ];

  it('are opened only if they are documents nearby', async () => {
    const schema = { allOf: cases.map(([, file]) => ({ $ref: `${file}#/a` })) };
    const root = write({
      'api.json': contractOf(schema),
      '.secret/x.yaml': 'a: {}',
      'secret.txt': 'a: {}',
      'folder.yaml/x': '',
    });
    symlinkSync('secret.txt', join(root, 'link.yaml'));
    symlinkSync('round.yaml', join(root, 'round.yaml'));
    await run('mkfifo', [join(root, 'pipe.yaml')]);
    const report = await loadAt(join(root, 'api.json'));
    assert.equal(report.warnings.length, cases.length, report.warnings.join('\n'));
    for (const [at, [name, , message]] of cases.entries()) {
      assert.match(report.warnings[at] ?? '', message, name);
    }
  });

  const outside: [string, string, RegExp][] = [
    ['of the system', '../../../../../../../../etc/passwd', /it resolves to "\/etc\/passwd"/],
    ['absolute', '/etc/x.yaml', /it resolves to "\/etc\/x\.yaml"/],
    ['encoded', '%2e%2e/%2e%2e/x.yaml', /it resolves to "[^"]*\/x\.yaml"/],
    ['beside the folder', '../common/x.yaml', /it resolves to "[^"]*\/common\/x\.yaml"/],
    ['in a folder whose name begins alike', '../api-other/x.yaml', /\/api-other\/x\.yaml"/],
    ['a link to a document outside', 'linked.yaml', /it resolves to "[^"]*\/common\/x\.yaml"/],
    [
      'below a link to a folder outside',
      'common/x.yaml',
      /it resolves to "[^"]*\/common\/x\.yaml"/,
    ],
    ['not there, below such a link', 'common/gone.yaml', /"[^"]*\/common\/gone\.yaml"/],
    ['a device', 'zero.yaml', /it resolves to "\/dev\/zero"/],
  ];
  for (const [name, file, message] of outside) {
    it(`must be in the folder of the document: ${name}`, async () => {
      const root = write({
        'api/api.json': contractOf({ $ref: `${file}#/a` }),
        'common/x.yaml': 'a: { type: integer }',
        'api-other/x.yaml': 'a: { type: integer }',
      });
      symlinkSync('../common/x.yaml', join(root, 'api', 'linked.yaml'));
      symlinkSync('../common', join(root, 'api', 'common'));
      symlinkSync('/dev/zero', join(root, 'api', 'zero.yaml'));
      const report = await loadAt(join(root, 'api', 'api.json'));
      refused(report, message);
      assert.ok(report.message.includes(`Cannot follow $ref "${file}#/a"`), report.message);
      assert.ok(report.message.includes(`outside the folder "${join(root, 'api')}"`));
      assert.match(report.message, /set RINGBACK_CONTRACT_ROOT \(--contract-root\) to a folder/);
    });
  }

  it('may be outside the folder within the contract root, be links, and have unusual names', async () => {
    const names = [
      '../common/x.yaml',
      'linked.yaml',
      "a%20b%23c'%C3%A9%25.yml",
      'UPPER.JSON',
      './././x.yaml',
    ];
    const root = write({
      'api/api.json': contractOf({ allOf: names.map((file) => ({ $ref: `${file}#/a` })) }),
      'common/x.yaml': 'a: { type: integer }',
      'api/x.yaml': 'a: { type: integer }',
      "api/a b#c'é%.yml": 'a: { type: integer }',
      'api/UPPER.JSON': '{"a": {"type": "integer"}}',
    });
    symlinkSync('../common/x.yaml', join(root, 'api', 'linked.yaml'));
    const payload = join(root, 'payload');
    writeFileSync(payload, '"x"');
    const report = await loadAt(join(root, 'api', 'api.json'), [payload], root);
    assert.deepEqual(report.warnings, []);
    assert.equal(report.checks[0]?.faults.length, 1);
  });

  it('and the contract itself may be neither a pipe nor a device', async () => {
    const root = write({});
    await run('mkfifo', [join(root, 'pipe.yaml')]);
    for (const path of [join(root, 'pipe.yaml'), '/dev/zero', root, '/dev/stdin']) {
      refused(await loadAt(path), /it is not a regular file|ENXIO|ENOENT/);
    }
  });

  it('are never read half-written while another process rewrites them', async () => {
    const root = write({});
    const path = join(root, 'api.json');
    const texts = [1, 2].map((size) =>
      contractOf({}, { 'x-filler': String(size).repeat(size * megabyte) }),
    );
    writeFileSync(path, texts[0] ?? '');
    for (const [at, text] of texts.entries()) writeFileSync(join(root, `text-${at}`), text);
    const script = `
      const { readFileSync, writeFileSync } = require('node:fs');
      const texts = [0, 1].map((at) => readFileSync(process.argv[1] + '/text-' + at));
      for (let n = 0; ; n += 1) writeFileSync(process.argv[1] + '/api.json', texts[n % 2]);`;
    const writer = spawn(process.execPath, ['-e', script, root], { stdio: 'ignore' });
    const ended = new Promise((resolve) => writer.once('exit', resolve));
    try {
      for (let n = 0; n < 5; n += 1) {
        const report = await loadAt(path);
        const isWhole = report.kind === 'loaded' && report.operations === 1;
        assert.ok(
          isWhole || /changed while|Cannot read/.test(report.message),
          JSON.stringify(report),
        );
      }
    } finally {
      writer.kill('SIGKILL');
      await ended;
    }
  });
});

describe('names', { concurrency: 1 }, () => {
  it('that are special in JavaScript are treated like any other', async () => {
    const odd = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '$ref'];
    const schema = `{"type":"object","required":${JSON.stringify(odd)},"properties":{${odd.map((name) => `"${name}":{"type":"integer"}`).join()}}}`;
    const text = contractOf('here').replace('"here"', schema);
    const paths = odd.map(
      (name) =>
        `"/${name}":{"__proto__":{"post":{}},"get":{"operationId":"${name}","security":[{"${name}":[]}]}}`,
    );
    const document = text.replace(
      '"paths":{',
      `"__proto__":{"polluted":1},"paths":{${paths.join()},"__proto__":{"post":{}},`,
    );
    const report = await load({ 'a.json': document }, [{}, JSON.parse('{"__proto__":"x"}')]);
    assert.equal(report.operations, odd.length + 1);
    for (const { faults } of report.checks) {
      assert.ok(faults.some(({ field }) => field === '/constructor'));
      assert.ok(faults.some(({ field }) => field === '/toString'));
    }
  });
});

describe('a hostile schema', { concurrency: 1 }, () => {
  it('with a catastrophically backtracking pattern costs no more than another', async () => {
    const text = 'a'.repeat(50_000);
    for (const pattern of [
      '(a+)+$',
      '^(a|a)*$',
      '(a*)*b',
      String.raw`^(\w+\s?)*$`,
      'a*a*a*a*a*b',
    ]) {
      const report = await load({ 'a.json': contractOf({ properties: { t: { pattern } } }) }, [
        { t: `${text}!` },
        { t: `${text}${text}!` },
      ]);
      assert.deepEqual(report.warnings, [], pattern);
      for (const { faults } of report.checks) {
        assert.match(faults[0]?.message ?? '', /must match the pattern/, pattern);
      }
    }
  });

  it('with a pattern that cannot be matched in linear time ignores it, with a warning', async () => {
    const patterns = [
      String.raw`^(a+)+\1$`,
      '(?<=a)(a+)+$',
      '((a{1,100}){1,100}){1,100}',
      'a'.repeat(10_000),
    ];
    for (const pattern of patterns) {
      const report = await load({ 'a.json': contractOf({ pattern }) }, ['a'.repeat(50_000)]);
      told(report, /the expression .*; it is ignored/);
      assert.deepEqual(report.checks[0]?.faults, []);
    }
    const keys = {
      patternProperties: { '(a)\\1': { type: 'string' } },
      additionalProperties: false,
    };
    const report = await load({ 'a.json': contractOf(keys) }, [{ aa: 'x' }]);
    told(report, /has a back reference/);
    assert.deepEqual(report.checks[0]?.faults, []);
  });

  it('with hundreds of patterns is bounded, too', async () => {
    const patterns = Object.fromEntries(
      Array.from({ length: 900 }, (_, at) => [`(a|b|${at})+x$`, { type: 'string' }]),
    );
    const names = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [`${'ab'.repeat(20)}${at}`, at]),
    );
    const report = await load({ 'a.json': contractOf({ patternProperties: patterns }) }, [names]);
    assert.equal(report.kind, 'loaded', report.message);
    assert.match(
      report.checks[0]?.faults[0]?.message ?? '',
      new RegExp(`it takes more than ${bounds.checkStepsMax} steps`),
    );
  });

  it('with any format is checked without backtracking', async () => {
    const formats =
      'date time date-time duration uri-template email hostname ipv4 ipv6 regex uuid json-pointer relative-json-pointer byte int32 int64 float double password binary iso-time iso-date-time json-pointer-uri-fragment';
    const texts = [
      'a',
      '-',
      '0',
      '.',
      'a.',
      'a@',
      ':',
      '1:',
      '/',
      '{',
      'A=',
      'P1D',
      'a-',
      '%41',
      '\n',
    ].map((part) => `${part.repeat(Math.floor(500_000 / part.length))}!`);
    const schema = { items: { allOf: formats.split(' ').map((format) => ({ format })) } };
    const report = await load(
      { 'a.json': contractOf(schema) },
      texts.map((text) => [text]),
    );
    assert.equal(report.checks.length, texts.length);
  });

  it('with too many members, branches or values is refused or checked', async () => {
    const properties = numbered(100_000, () => ({ type: 'string' }));
    refused(await load({ 'a.json': contractOf({ properties }) }), /has 100000 members/);
    const branches = Array.from({ length: 5_000 }, (_, at) => ({ const: at }));
    refused(
      await load({ 'a.json': contractOf({ oneOf: branches }) }),
      /oneOf has 5000 members, expected at most 1000/,
    );
    const some = Array.from({ length: 1_000 }, (_, at) => ({
      properties: { [`k${at}`]: { const: at } },
      required: [`k${at}`],
    }));
    const fitting = await load({ 'a.json': contractOf({ oneOf: some }) }, [{ k999: 999 }, {}]);
    assert.deepEqual(
      fitting.checks.map(({ faults }) => faults.length),
      [0, 1],
    );
    const values = Array.from({ length: 100_000 }, (_, at) => `value ${at}`);
    const common = values.slice(0, 20_000);
    const lists = await load({ 'a.json': contractOf({ items: { enum: common } }) }, [
      common.slice(0, 10_000),
      ['value 5', 'value x'],
    ]);
    assert.deepEqual(
      lists.checks.map(({ faults }) => faults.map(({ field }) => field)),
      [[], ['/1']],
    );
    const required = await load({ 'a.json': contractOf({ type: 'object', required: values }) }, [
      {},
    ]);
    assert.ok(required.kind === 'refused' || (required.checks[0]?.faults.length ?? 0) > 0);
  });

  it('that repeats the same check exponentially is bounded', async () => {
    const made: Record<string, (at: number) => unknown> = {
      allOf: (at) => ({ allOf: [ref(at + 1), ref(at + 1)] }),
      oneOf: (at) => ({ oneOf: [ref(at + 1), { allOf: [ref(at + 1), { not: ref(at + 1) }] }] }),
      anyOf: (at) => ({ anyOf: [{ allOf: [ref(at + 1), false] }, ref(at + 1)] }),
      if: (at) => ({ if: ref(at + 1), else: ref(at + 1), allOf: [ref(at + 1)] }),
    };
    for (const [name, make] of Object.entries(made)) {
      const list = numbered(41, (at) => (at === 40 ? { type: 'string' } : make(at)));
      const report = await load({ 'a.json': contractOf(ref(0), schemas(list)) }, ['x', 5]);
      for (const { faults } of report.checks) {
        assert.ok(faults.length > 0 || name === 'if', name);
      }
    }
    const twice = { allOf: [{ properties: { next: ref(0) } }, { properties: { next: ref(0) } }] };
    let deep: unknown = {};
    for (let n = 0; n < 60; n += 1) deep = { next: deep };
    const report = await load({ 'a.json': contractOf(ref(0), schemas({ s0: twice })) }, [deep]);
    assert.match(report.checks[0]?.faults[0]?.message ?? '', /it takes more than/);
  });

  it('that compares every item with every other is checked in linear time', async () => {
    const items = Array.from({ length: 500 }, (_, at) => ({ id: at, name: 'x', list: [at] }));
    const schema = { type: 'array', uniqueItems: true };
    const report = await load({ 'a.json': contractOf(schema) }, [
      items,
      [...items, { name: 'x', list: [7], id: 7 }],
    ]);
    assert.deepEqual(
      report.checks.map(({ faults }) => faults.map(({ message }) => message)),
      [[], ['must not repeat items: 7 and 500 are equal']],
    );
  });

  it('with a fault in every item is explained in bounded time and memory', async () => {
    const strict = {
      allOf: Array.from({ length: 200 }, () => ({ type: 'string', minLength: 5, enum: ['x'] })),
    };
    const report = await load({ 'a.json': contractOf({ items: strict }) }, [
      Array.from({ length: 25_000 }, (_, at) => at),
    ]);
    assert.ok((report.checks[0]?.faults.length ?? 0) > 0);
  });

  it('with a cycle of a thousand references is checked', async () => {
    const ring = numbered(1_000, (at) => ({ properties: { a: ref((at + 1) % 1_000) } }));
    const report = await load({ 'a.json': contractOf(ref(0), schemas(ring)) }, [{ a: { a: 1 } }]);
    assert.equal(report.kind, 'loaded', report.message);
    assert.deepEqual(report.checks[0]?.faults, []);
  });
});
