import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileContract } from './compile.ts';
import { requireAppId } from './load.ts';

const schemes = {
  Header: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  Query: { type: 'apiKey', in: 'query', name: 'api_key' },
};
const appId = { type: 'apiKey', in: 'header', name: 'X-APP-ID' };

function document(securitySchemes: object, rest: object = {}): Record<string, unknown> {
  return {
    openapi: '3.0.4',
    info: { title: 'T' },
    components: { securitySchemes },
    security: [{ Header: [] }, { Query: [] }, {}],
    paths: {
      '/a': {
        parameters: [],
        get: { operationId: 'a' },
        post: { operationId: 'b', security: [{ Header: [] }] },
        put: { operationId: 'c', security: [] },
        delete: { operationId: 'd', security: [{}] },
      },
    },
    ...rest,
  };
}

describe('requireAppId', () => {
  it('adds the app id to every requirement that is not empty', () => {
    const rewritten = requireAppId(document({ ...schemes, AppId: appId }));
    assert.deepEqual(rewritten['security'], [
      { Header: [], AppId: [] },
      { Query: [], AppId: [] },
      {},
    ]);
    const { operations } = compileContract({ path: 'a.yaml', root: rewritten });
    const names = operations.map(({ security }) =>
      security.map((one) => one.schemes.map(({ name }) => name).join('+')),
    );
    assert.deepEqual(names, [['Header+AppId', 'Query+AppId', ''], [], ['Header+AppId'], ['']]);
  });

  it('does not change the requirement of a console session, which belongs to one app', () => {
    const Console = { type: 'apiKey', in: 'cookie', name: 'c', 'x-ringback': 'session' };
    const security = [{ Header: [] }, { Console: [] }];
    const rewritten = requireAppId(document({ ...schemes, Console }, { security }));
    assert.deepEqual(rewritten['security'], [{ Header: [], AppId: [] }, { Console: [] }]);
  });

  it('does not change the given document', () => {
    const given = document(schemes);
    const before = structuredClone(given);
    requireAppId(given);
    assert.deepEqual(given, before);
  });

  it('declares the scheme if it is missing, under a free name', () => {
    const added = requireAppId(document(schemes));
    assert.deepEqual(added['components'], { securitySchemes: { ...schemes, AppId: appId } });
    const taken = requireAppId(document({ ...schemes, AppId: { type: 'http', scheme: 'basic' } }));
    assert.deepEqual(Object.keys(Object(taken['components']).securitySchemes), [
      'Header',
      'Query',
      'AppId',
      'AppId_',
    ]);
    const bare = requireAppId({ openapi: '3.0.4', security: [{ X: [] }] });
    assert.deepEqual(bare, {
      openapi: '3.0.4',
      components: { securitySchemes: { AppId: appId } },
      security: [{ X: [], AppId: [] }],
    });
  });

  it('uses the scheme that is marked, and adds it once', () => {
    const tenant = { type: 'apiKey', in: 'query', name: 'tenant', 'x-ringback': 'app-id' };
    const given = document(
      { ...schemes, Tenant: tenant },
      { security: [{ Header: [], Tenant: [] }] },
    );
    assert.deepEqual(requireAppId(given)['security'], [{ Header: [], Tenant: [] }]);
  });

  it('skips what it cannot read', () => {
    const odd = { paths: { '/a': null, '/b': { get: null, post: { security: 'x' } } } };
    assert.deepEqual(requireAppId(odd)['paths'], odd.paths);
    assert.deepEqual(requireAppId({ security: ['x'] })['security'], ['x']);
  });
});
