import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { load } from 'js-yaml';
import type { Alternative } from './contract.ts';
import { parseExpression } from '../expression/expression.ts';
import { at, openSource } from '../document/ref-node.ts';
import type { RefNode } from '../document/ref-node.ts';
import { compileBoundKeys, compileScope, compileSecurity, credentialTest } from './security.ts';

const components = `
components:
  securitySchemes:
    Header: { type: apiKey, in: header, name: X-API-Key }
    Query: { type: apiKey, in: query, name: api_key }
    Cookie: { type: apiKey, in: cookie, name: X-API-KEY }
    AppId: { type: apiKey, in: header, name: x-App-Id }
    Tenant: { type: apiKey, in: query, name: tenant, x-ringback: app-id }
    Session: { type: apiKey, in: cookie, name: session, x-ringback: session }
    Bearer: { type: http, scheme: Bearer }
    Basic: { type: http, scheme: basic }
    Digest: { type: http, scheme: digest }
    OAuth: { type: oauth2, flows: {} }
    OpenId: { type: openIdConnect, openIdConnectUrl: https://x.example }
    Mtls: { type: mutualTLS }
    Ref: { $ref: '#/components/securitySchemes/Header' }
    Dangling: { $ref: '#/components/securitySchemes/Gone' }
    Nameless: { type: apiKey, in: header }
    Placeless: { type: apiKey, in: body, name: x }
    Odd: { type: odd }
`;

/** An operation with this security, in a document with that. */
function operation(own: string | undefined, global?: string): RefNode {
  const yaml = `${components}
${global === undefined ? '' : `security: ${global}`}
op: { ${own === undefined ? '' : `security: ${own}`} }`;
  const place = at(openSource({ path: 'api.yaml', root: load(yaml) }), 'op');
  assert.ok(place);
  return place;
}

function alternatives(own: string | undefined, global?: string): string[] {
  return compileSecurity(operation(own, global)).map(print);
}

function print({ schemes }: Alternative): string {
  return schemes
    .map(({ name, credential, carrier }) => {
      const where = 'name' in carrier ? `${carrier.in} ${carrier.name}` : carrier.in;
      return `${name}: ${credential} in ${where}`;
    })
    .join(' AND ');
}

describe('compileSecurity', () => {
  it('reads AND within one entry and OR between entries', () => {
    assert.deepEqual(alternatives('[{ Header: [], AppId: [] }, { Query: [] }]'), [
      'Header: key in header X-API-Key AND AppId: app_id in header x-App-Id',
      'Query: key in query api_key',
    ]);
  });

  it('uses the list of the document if the operation has none', () => {
    assert.deepEqual(alternatives(undefined, '[{ Header: [] }]'), [
      'Header: key in header X-API-Key',
    ]);
    assert.deepEqual(alternatives('[{ Query: [] }]', '[{ Header: [] }]'), [
      'Query: key in query api_key',
    ]);
  });

  it('reads {} as anonymous and [] as no requirement at all', () => {
    assert.deepEqual(compileSecurity(operation('[{}, { Header: [] }]'))[0], { schemes: [] });
    assert.deepEqual(alternatives('[]', '[{ Header: [] }]'), []);
    assert.deepEqual(alternatives(undefined), []);
  });

  it('carries the key of foreign schemes as bearer or basic', () => {
    assert.deepEqual(
      alternatives('[{ Bearer: [] }, { Basic: [] }, { OAuth: [x] }, { OpenId: [] }]'),
      [
        'Bearer: key in bearer',
        'Basic: key in basic',
        'OAuth: key in bearer',
        'OpenId: key in bearer',
      ],
    );
  });

  it('follows a reference to a scheme, and supports cookies', () => {
    assert.deepEqual(alternatives('[{ Ref: [], Cookie: [] }]'), [
      'Ref: key in header X-API-Key AND Cookie: key in cookie X-API-KEY',
    ]);
  });

  it('recognises a console session by x-ringback alone', () => {
    assert.deepEqual(alternatives('[{ Cookie: [] }, { Session: [] }]'), [
      'Cookie: key in cookie X-API-KEY',
      'Session: session in cookie session',
    ]);
  });

  it('recognises the app id by its header or by x-ringback', () => {
    assert.deepEqual(alternatives('[{ Header: [], Tenant: [] }]'), [
      'Header: key in header X-API-Key AND Tenant: app_id in query tenant',
    ]);
  });

  it('closes the alternative of a scheme that is undeclared or invalid', () => {
    const cases: [string, RegExp][] = [
      ['Unknown', /it is not declared, expected Header or /],
      ['Dangling', /it is not declared, expected Header or /],
      ['Nameless', /it needs a known "type", and an apiKey also "in" and "name"/],
      ['Placeless', /it needs a known "type"/],
      ['Odd', /it needs a known "type"/],
    ];
    for (const [name, message] of cases) {
      const place = operation(`[{ Header: [] }, { ${name}: [] }, { ${name}: [], Header: [] }]`);
      assert.deepEqual(compileSecurity(place).map(print), ['Header: key in header X-API-Key']);
      const pointer = `#/op/security/1/${name}`;
      const warning = place.source.warnings.find((one) => one.pointer === pointer);
      assert.match(warning?.message ?? '', message);
      const alone = operation(`[{ ${name}: [] }]`);
      assert.deepEqual(compileSecurity(alone).map(print), ['none: key in nowhere']);
      assert.match(alone.source.warnings.at(-1)?.message ?? '', /every request is rejected/);
    }
  });

  it('fails closed on requirements that cannot be read', () => {
    assert.throws(() => alternatives('{ Header: [] }'), /expected a list, found an object/);
    assert.throws(() => alternatives('null'), /expected a list, found null/);
    assert.throws(() => alternatives('[Header]'), /expected an object, found a string/);
    assert.throws(() => alternatives('[null]'), /expected an object, found null/);
  });

  it('drops an alternative that cannot run, with a warning', () => {
    const place = operation('[{ Mtls: [] }, { Header: [], Digest: [] }, { Query: [] }]');
    assert.deepEqual(compileSecurity(place).map(print), ['Query: key in query api_key']);
    assert.deepEqual(place.source.warnings, [
      {
        pointer: '#/op/security/0/Mtls',
        message:
          'an alternative with "Mtls" is not supported: "mutualTLS" is not supported; requests cannot use it',
      },
      {
        pointer: '#/op/security/1/Digest',
        message:
          'an alternative with "Digest" is not supported: "http digest" is not supported; requests cannot use it',
      },
    ]);
  });

  it('keeps an operation closed when no alternative can run', () => {
    for (const security of ['[{ Mtls: [] }]', '[{ Mtls: [], Header: [] }, { Digest: [] }]']) {
      const place = operation(security);
      const compiled = compileSecurity(place);
      assert.deepEqual(compiled.map(print), ['none: key in nowhere']);
      assert.match(place.source.warnings.at(-1)?.message ?? '', /every request is rejected/);
    }
  });

  it('does not accept an app id as a key, since it is not secret', () => {
    const place = operation('[{ AppId: [] }]');
    assert.deepEqual(compileSecurity(place).map(print), ['none: key in nowhere']);
    assert.match(place.source.warnings[0]?.message ?? '', /requires an app id but no key/);
  });
});

describe('compileScope', () => {
  function scope(value: string): unknown {
    const place = at(openSource({ path: 'a', root: load(`op: { ${value} }`) }), 'op');
    assert.ok(place);
    return compileScope(place);
  }

  it('reads x-ringback-scope', () => {
    assert.equal(scope('x-ringback-scope: publish'), 'publish');
    assert.equal(scope(''), undefined);
  });

  it('refuses a scope that does not exist', () => {
    assert.throws(() => scope('x-ringback-scope: write'), {
      name: 'ContractError',
      pointer: '#/op/x-ringback-scope',
      message: /it is "write", expected one of subscribe, publish, read, retry, admin, operator/,
    });
    assert.throws(() => scope('x-ringback-scope: [read]'), /it is \["read"\]/);
  });
});

describe('compileBoundKeys', () => {
  function boundKeys(value: string): unknown {
    const place = at(openSource({ path: 'a', root: load(`op: { ${value} }`) }), 'op');
    assert.ok(place);
    return compileBoundKeys(place);
  }

  it('reads whether keys of a customer are taken, and the scope that they need', () => {
    assert.equal(boundKeys('x-ringback-bound-keys: true'), 'taken');
    assert.equal(boundKeys('x-ringback-bound-keys: read'), 'read');
    assert.equal(boundKeys('x-ringback-bound-keys: false'), 'refused');
    assert.equal(boundKeys(''), 'refused');
  });

  it('refuses what is neither', () => {
    assert.throws(() => boundKeys('x-ringback-bound-keys: yes please'), {
      name: 'ContractError',
      pointer: '#/op/x-ringback-bound-keys',
      message: /expected true, false, or one of subscribe, .*found/,
    });
  });
});

describe('credentialTest', () => {
  it('recognises every carrier of a credential', () => {
    const isCredential = credentialTest(operation('[]'));
    const test = (text: string): boolean => {
      const parsed = parseExpression(text);
      assert.ok(parsed.kind === 'parsed');
      return isCredential(parsed.expression);
    };
    for (const text of [
      '$request.header.X-API-KEY',
      '$request.header.Authorization',
      '$request.header.proxy-authorization',
      '$request.header.cookie',
      '$request.header.x-app-id',
      '$request.query.api_key',
    ]) {
      assert.equal(test(text), true, text);
    }
    for (const text of [
      '$request.header.x-other',
      '$request.query.API_KEY',
      '$request.path.api_key',
      '$request.body#/api_key',
      '$response.header.x-api-key',
      '$url',
    ]) {
      assert.equal(test(text), false, text);
    }
  });
});
