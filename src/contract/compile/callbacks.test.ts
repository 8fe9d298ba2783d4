import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { load } from 'js-yaml';
import { compileContract } from './compile.ts';
import type { CallbackDefinition } from '../model/contract.ts';
import type { ContractError } from '../document/document.ts';
import { loadContract } from './load.ts';
import { printTemplate } from '../expression/template.ts';

interface Compiled {
  callbacks: readonly CallbackDefinition[];
  warnings: string[];
}

/** Compiles the callbacks of `POST /s` with this `callbacks` and these other properties. */
function compile(callbacks: string, rest = '', document = ''): Compiled {
  const root = load(`
openapi: 3.0.4
info: { title: T }
${document}
paths:
  /s:
    post:
      ${rest.trim().replaceAll('\n', '\n      ')}
      callbacks:
        ${callbacks.trim().replaceAll('\n', '\n        ')}
`);
  const { operations, warnings } = compileContract({ path: 'api.yaml', root });
  const [operation] = operations;
  assert.ok(operation?.role.kind === 'subscribe');
  return {
    callbacks: operation.role.variants[0]?.callbacks ?? [],
    warnings: warnings.map(({ pointer, message }) => `${pointer} ${message}`),
  };
}

const body =
  'requestBody: { content: { application/json: { schema: { properties: { url: {} } } } } }';

describe('compileCallbacks', () => {
  it('gives each of several keys of a label an event of its own, named after its URL', () => {
    const events = (keys: string): string[] =>
      compile(`onEvent: { ${keys} }\ntaken: { 'https://x.example/': { post: {} } }`, body)
        .callbacks.slice(0, -1)
        .map(({ event }) => printTemplate(event));
    const key = (text: string, more = ''): string => `'${text}': { ${more} post: {} }`;
    const [progress, failed] = ['{$request.body#/inProgressUrl}', '{$request.body#/failedUrls}'];
    const success = '{$request.header.Success-Uri}/x?id={$request.body#/id}';
    assert.deepEqual(events([progress, failed, success].map((one) => key(one)).join(', ')), [
      'inProgress',
      'failed',
      'success',
    ]);
    assert.deepEqual(events(key(progress)), ['onEvent']);
    const listed = ['a', 'b'].map((name) => key(`{$request.body#/${name}Urls/0}`));
    assert.deepEqual(events(listed.join(', ')), ['a', 'b']);
    const elements = [0, 1].map((at) => key(`{$request.body#/urls/${at}}`));
    assert.deepEqual(events(elements.join(', ')), ['onEvent', 'onEvent']);
    const named = key(failed, 'x-ringback-event: no.*,');
    assert.deepEqual(events(`${key(progress)}, ${named}`), ['onEvent', 'no.*']);
    const taken = key('{$request.body#/takenUrl}');
    assert.deepEqual(events(`${key(progress)}, ${taken}`), ['inProgress', 'onEvent']);
  });

  it('warns about keys of a label that have the same event', () => {
    const { callbacks, warnings } = compile(
      "a: { '{$request.body#/url}/x': { post: {} }, '{$request.body#/url}/y': { post: {} } }",
      body,
    );
    assert.deepEqual(
      callbacks.map(({ event }) => printTemplate(event)),
      ['a', 'a'],
    );
    assert.equal(warnings.filter((one) => one.includes('has the same event')).length, 2);
  });

  it('compiles label, key, method, event, payload and statuses, in order', () => {
    const { callbacks, warnings } = compile(
      `
onA:
  '{$request.body#/url}/a':
    post:
      requestBody: { content: { application/json: { schema: { type: string } } } }
      responses: { 200: {}, 2xx: {}, default: {} }
onB:
  '{$request.body#/url}/b': { put: {} }`,
      body,
    );
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      callbacks.map(({ id, label, method, target, event, mediaType, statuses }) => ({
        id,
        label,
        method,
        target: printTemplate(target ?? []),
        event: printTemplate(event),
        mediaType,
        statuses,
      })),
      [
        {
          id: 'onA {$request.body#/url}/a POST',
          label: 'onA',
          method: 'POST',
          target: '{$request.body#/url}/a',
          event: 'onA',
          mediaType: 'application/json',
          statuses: ['200', '2XX', 'default'],
        },
        {
          id: 'onB {$request.body#/url}/b PUT',
          label: 'onB',
          method: 'PUT',
          target: '{$request.body#/url}/b',
          event: 'onB',
          mediaType: 'application/json',
          statuses: [],
        },
      ],
    );
    assert.deepEqual(callbacks[0]?.payload?.check(5), [
      { field: '', message: 'must be a string, is a number' },
    ]);
    assert.equal(callbacks[1]?.payload, undefined);
  });

  it('creates one callback per method under a key', () => {
    const { callbacks } = compile(
      `a: { '{$request.body#/url}': { delete: {}, get: {}, put: {} } }`,
      body,
    );
    assert.deepEqual(
      callbacks.map(({ method }) => method),
      ['GET', 'PUT', 'DELETE'],
    );
  });

  it('follows references to callbacks, path items and bodies', () => {
    const { callbacks, warnings } = compile(
      `a: { $ref: '#/components/callbacks/A' }`,
      body,
      `components:
  callbacks: { A: { '{$request.body#/url}': { $ref: '#/components/pathItems/P' } } }
  pathItems: { P: { x-ringback-event: e, post: { requestBody: { $ref: '#/components/requestBodies/B' } } } }
  requestBodies: { B: { content: { application/json: { schema: { type: integer } } } } }`,
    );
    assert.equal(callbacks[0]?.payload?.check('x').length, 1);
    assert.equal(printTemplate(callbacks[0]?.event ?? []), 'e');
    assert.deepEqual(warnings, []);
  });

  it('follows references to other files, and names the file of a fault', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ringback-callbacks-'));
    try {
      writeFileSync(
        join(folder, 'api.yaml'),
        `openapi: 3.0.4\ninfo: { title: T }\npaths: { /s: { post: { callbacks: { a: { $ref: 'common.yaml#/A' } } } } }`,
      );
      writeFileSync(join(folder, 'common.yaml'), `A: { '{$request.body#url}': { post: {} } }`);
      const { operations, warnings } = await loadContract(join(folder, 'api.yaml'));
      assert.equal(operations[0]?.role.kind, 'subscribe');
      assert.deepEqual(
        warnings.map(({ pointer }) => pointer),
        Array(2).fill('common.yaml#/A/{$request.body#url}'),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('repairs broken keys, with a warning that names the place', () => {
    const { callbacks, warnings } = compile(`a: { '{ request.body#url }': { post: {} } }`, body);
    assert.equal(printTemplate(callbacks[0]?.target ?? []), '{$request.body#/url}');
    assert.equal(callbacks[0]?.id, 'a { request.body#url } POST');
    assert.equal(warnings.length, 3);
    assert.match(
      warnings[0] ?? '',
      /^#\/paths\/~1s\/post\/callbacks\/a\/\{ request\.body#url \} found /,
    );
    const named = compile(`a: { '{url}': { post: {} } }`, body);
    assert.equal(printTemplate(named.callbacks[0]?.target ?? []), '{$request.body#/url}');
  });

  it('keeps a callback whose key cannot be used, inactive, with the reason', () => {
    const { callbacks, warnings } = compile(`a: { 'your url': { post: {} } }`, body);
    assert.equal(callbacks[0]?.target, undefined);
    assert.match(callbacks[0]?.inactive ?? '', /^Cannot accept callback URL "your url"/);
    assert.match(warnings[0] ?? '', /the callback is inactive: Cannot accept/);
  });

  it('refuses an expression that names a credential', () => {
    const schemes = `components:
  securitySchemes: { H: { type: apiKey, in: header, name: X-API-Key }, Q: { type: apiKey, in: query, name: api_key } }`;
    for (const expression of [
      '$request.header.authorization',
      '$request.header.Cookie',
      '$request.header.x-api-key',
      '$request.query.api_key',
    ]) {
      const key = `https://x.example/?k={${expression}}`;
      assert.throws(
        () => compile(`a: { '${key}': { post: {} } }`, body, schemes),
        (error: ContractError) =>
          error.name === 'ContractError' &&
          error.pointer.startsWith('#/paths/~1s/post/callbacks/a/https:~1~1x.example') &&
          error.message.includes('carries a credential'),
      );
      assert.throws(
        () =>
          compile(
            `a: { '{$request.body#/url}': { x-ringback-event: '{${expression}}', post: {} } }`,
            body,
            schemes,
          ),
        /carries a credential/,
      );
    }
  });

  it('warns about expressions that never resolve', () => {
    const { warnings } = compile(`
a: { 'https://x.example/{$response.query.a}/{$response.path.b}': { post: {} } }
b: { 'https://x.example/{$request.query.a}/{$request.header.b}/{$request.path.c}': { post: {} } }
c: { '{$request.body#/url}': { post: {} } }`);
    assert.deepEqual(
      warnings.map((one) => one.replace(/^\S+ /, '')),
      [
        '"$response.query.a" never resolves: a response has no such parameters',
        '"$response.path.b" never resolves: a response has no such parameters',
        '"$request.query.a" never resolves: the operation declares no such query parameter',
        '"$request.header.b" never resolves: the operation declares no such header parameter',
        '"$request.path.c" never resolves: the operation declares no such path parameter',
        '"$request.body#/url" never resolves: the operation declares no request body',
      ],
    );
  });

  it('accepts values that are declared or always present', () => {
    const { warnings } = compile(
      `a: { '{$request.query.u}/{$request.header.x-a}/{$request.header.accept}/{$request.path.eventType}/{$response.body#/id}/{$response.header.l}/{$statusCode}': { post: {} } }`,
      'parameters: [{ name: u, in: query }, { name: X-A, in: header }]',
    );
    assert.deepEqual(warnings, []);
  });

  it('loads nested callbacks, and does not execute them', () => {
    const { callbacks, warnings } = compile(
      `a: { '{$request.body#/url}': { post: { callbacks: { b: { '{$request.body#/x}': { post: {} } } } } } }`,
      body,
    );
    assert.equal(callbacks.length, 1);
    assert.match(warnings[0] ?? '', /has callbacks of its own; they are not executed/);
  });

  it('does not apply the security of the document to callbacks, only their own', () => {
    const schemes = `
security: [{ K: [] }]
components: { securitySchemes: { K: { type: apiKey, in: header, name: K, x-ringback-value: v } } }`;
    const { callbacks, warnings } = compile(
      `a: { '{$request.body#/url}': { post: {}, put: { security: [{ K: [] }] } } }`,
      body,
      schemes,
    );
    assert.deepEqual(
      callbacks.map(({ additions }) => additions.map(({ name }) => name)),
      [['K'], []],
    );
    assert.deepEqual(warnings, []);
  });

  /** Compiles a callback that requires a credential of this scheme. */
  function withScheme(scheme: string, more = ''): ReturnType<typeof compile> {
    const credential = `{ type: object, properties: { credentialType: { type: string }${more} } }`;
    const properties = `{ sink: { type: string }, sinkCredential: ${credential} }`;
    return compile(
      `a: { '{$request.body#/sink}': { post: { security: [{ K: [] }] } } }`,
      `requestBody: { content: { application/json: { schema: { properties: ${properties} } } } }`,
      `components: { securitySchemes: { K: ${scheme} } }`,
    );
  }

  it('sends the API key that the credential beside the URL declares, by one name', () => {
    const scheme = '{ type: apiKey, in: header, name: X-Hook-Key }';
    for (const name of ['apiKey', 'api_key', 'X-Hook-Key']) {
      const { callbacks, warnings } = withScheme(scheme, `, ${name}: { type: string }`);
      assert.deepEqual(warnings, []);
      assert.deepEqual(
        callbacks[0]?.additions.map(({ value, expires, secrets }) => [
          printTemplate(value),
          expires,
          secrets,
        ]),
        [[`{$request.body#/sinkCredential/${name}}`, undefined, [['sinkCredential']]]],
      );
    }
    const { callbacks, warnings } = withScheme(scheme, ', apiKey: {}, X-Hook-Key: {}');
    assert.deepEqual([callbacks[0]?.additions, warnings.length], [[], 1]);
  });

  it('says what to add where a required credential has no source', () => {
    const none = 'requires a credential, but nothing says which; none is sent.';
    const add =
      'Add x-ringback-value to the security scheme "K", with an expression for the property of the ' +
      'request that has the credential, such as x-ringback-value: ';
    const inside = '$request.body#/sinkCredential';
    const basic = `'{${inside}/user}:{${inside}/password}'`;
    for (const [scheme, wanted] of [
      ['{ type: apiKey, in: header, name: X-Hook-Key }', `${add}'{${inside}/credential}'`],
      ['{ type: http, scheme: basic }', `${add}${basic}`],
      ['{ type: mutualTLS }', 'The security scheme "K" cannot be sent in a request'],
    ] as const) {
      const { callbacks, warnings } = withScheme(scheme);
      const [warning = '', ...others] = warnings;
      assert.deepEqual(others, []);
      assert.ok(warning.endsWith(`${none} ${wanted}`), warning);
      // What it says to add is then sent.
      const value = /(?<=x-ringback-value: )'.*'$/u.exec(wanted)?.[0];
      if (value === undefined) continue;
      const again = withScheme(scheme.replace(' }', `, x-ringback-value: ${value} }`));
      assert.deepEqual([callbacks[0]?.additions, again.warnings], [[], []]);
      assert.equal(again.callbacks[0]?.additions.length, 1);
    }
    const { warnings } = compile(
      `a: { '{$request.body#/url}': { post: { security: [{ Unknown: [] }] } } }`,
      body,
    );
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /The security scheme "Unknown" is not declared$/);
  });

  it('knows which callbacks are final', () => {
    const { callbacks } = compile(
      `
a: { '{$request.body#/url}': { x-ringback-final: true, post: {}, put: { x-ringback-final: false } } }
b: { '{$request.body#/url}': { post: { x-ringback-final: true } } }
c: { '{$request.body#/url}': { post: {} } }`,
      body,
    );
    assert.deepEqual(
      callbacks.map(({ isFinal }) => isFinal),
      [false, true, true, false],
    );
    for (const bad of ['yes', '1', 'null', "'true'"]) {
      const key = `{ x-ringback-final: ${bad}, post: {} }`;
      assert.throws(() => compile(`a: { '{$request.body#/url}': ${key} }`, body), {
        message: /Cannot read x-ringback-final at .*: it is .*, expected true or false/,
      });
    }
  });

  it('ends subscriptions with 410, or with the nearest declared status', () => {
    const status = 'x-ringback-unsubscribe-status';
    const { callbacks } = compile(
      `
a: { '{$request.body#/url}': { ${status}: 204, post: { ${status}: 404 }, put: {} } }
b: { '{$request.body#/url}': { post: {} } }`,
      body,
      `${status}: 418`,
    );
    assert.deepEqual(
      callbacks.map(({ unsubscribeStatus }) => unsubscribeStatus),
      [204, 404, 418],
    );
    const plain = compile(`a: { '{$request.body#/url}': { post: {} } }`, body);
    assert.equal(plain.callbacks[0]?.unsubscribeStatus, 410);
    for (const bad of ['gone', '99', '600', 'null', '204.5']) {
      assert.throws(
        () => compile(`a: { '{$request.body#/url}': { ${status}: ${bad}, post: {} } }`, body),
        {
          message: /Cannot read the status at .*: it is .*, expected 200 to 599/,
        },
      );
    }
  });

  it('reads the event from x-ringback-event, expressions included', () => {
    const event = (written: string): string =>
      printTemplate(
        compile(`a: { '{$request.body#/url}': { x-ringback-event: ${written}, post: {} } }`, body)
          .callbacks[0]?.event ?? [],
      );
    assert.equal(event("'*'"), '*');
    assert.equal(event('order.*'), 'order.*');
    assert.equal(event("'order.{$request.body#/kind}'"), 'order.{$request.body#/kind}');
    assert.equal(event("'a b {$request.body#/kind}*x'"), 'a b {$request.body#/kind}*x');
    assert.throws(() => event("''"), /Cannot use event "" at .*x-ringback-event: expected a name/);
    assert.throws(() => event('e'.repeat(257)), /Cannot use event "eee/);
    assert.throws(() => event("'{$oops}'"), /Cannot read the event/);
    assert.throws(() => event('5'), /Cannot read the event/);
  });

  it('reads it from the callback operation before the path item', () => {
    const own = (event: string): string => `{ x-ringback-event: ${event} }`;
    const { callbacks } = compile(
      `
a:
  '{$request.body#/url}': { x-ringback-event: item, post: ${own('post')}, put: {} }
  '{$request.body#/otherUrl}': { post: ${own('o.*')} }`,
      body,
    );
    assert.deepEqual(
      callbacks.map(({ event }) => printTemplate(event)),
      ['item', 'post', 'o.*'],
    );
  });

  it('takes a label as the name of the event, never as a wildcard', () => {
    const named = (label: string): Compiled =>
      compile(`${JSON.stringify(label)}: { '{$request.body#/url}': { post: {} } }`, body);
    for (const [label, event] of [
      ['..order is paid..now.', '..order is paid..now.'],
      ['*', String.raw`\*`],
      ['order.*', String.raw`order.\*`],
    ] as const) {
      const { callbacks, warnings } = named(label);
      assert.equal(printTemplate(callbacks[0]?.event ?? []), event);
      assert.deepEqual(warnings, []);
    }
    assert.match(named('e'.repeat(257)).warnings[0] ?? '', /label "eee.* is not an event name/);
  });

  it('prefers JSON and types built on it, and warns when there is none', () => {
    const media = (content: string): Compiled =>
      compile(
        `a: { '{$request.body#/url}': { post: { requestBody: { content: ${content} } } } }`,
        body,
      );
    const cloud = media(
      '{ text/xml: {}, application/cloudevents+json: { schema: { type: object } } }',
    );
    assert.equal(cloud.callbacks[0]?.mediaType, 'application/cloudevents+json');
    assert.equal(cloud.callbacks[0]?.payload?.check(1).length, 1);
    const xml = media('{ text/xml: { schema: { type: object } } }');
    assert.equal(xml.callbacks[0]?.mediaType, 'application/json');
    assert.equal(xml.callbacks[0]?.payload, undefined);
    assert.match(
      xml.warnings[0] ?? '',
      /declares no JSON media type; the payload is sent as JSON anyway/,
    );
  });

  it('skips entries that are not callbacks, with a warning', () => {
    const { callbacks, warnings } = compile(
      `
x-note: hi
a: { x-note: hi, '{$request.body#/url}': {}, wrongField: text }
b: { '{$request.body#/url}': { post: text, trace: {}, additionalOperations: {}, get: {} } }`,
      body,
    );
    assert.deepEqual(
      callbacks.map(({ method }) => method),
      ['GET'],
    );
    assert.deepEqual(
      warnings.map((one) => one.replace(/^\S+ /, '')),
      [
        'has no operation (an object); the callback is ignored',
        'has no operation (a string); the callback is ignored',
        'cannot be executed: the method is not supported',
        'cannot be executed: the method is not supported',
        'is a string, expected an operation; it is ignored',
      ],
    );
  });

  it('compiles the schemas of payloads at load, so that warnings appear then', () => {
    const { warnings } = compile(
      `a: { '{$request.body#/url}': { post: { requestBody: { content: { application/json: { schema: { type: any } } } } } } }`,
      body,
    );
    assert.match(warnings[0] ?? '', /schema\/type is a string, expected a JSON type/);
  });
});
