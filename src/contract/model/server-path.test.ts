// The path in front of the operations, from the URL of a server and its variables.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileContract } from '../compile/compile.ts';

interface Served {
  path: string;
  warnings: readonly string[];
}

function serve(url: string, variables: object = {}): Served {
  const post = { callbacks: { a: { 'https://x.example/': { post: {} } } } };
  const { operations, warnings } = compileContract({
    path: 'api.yaml',
    root: {
      openapi: '3.1.0',
      info: { title: 'T' },
      servers: [{ url, variables }],
      paths: { '/hooks': { post } },
    },
  });
  const about = warnings.filter(({ message }) => /variable|URL is/u.test(message));
  return { path: operations[0]?.path ?? '', warnings: about.map(({ message }) => message) };
}

describe('the path of a server', () => {
  for (const [url, path, names] of [
    ['https://h.example/{base}/v1', '/v1/hooks', ['base']],
    ['https://{h}/x', '/x/hooks', ['h']],
    ['https://{h}:{port}/x/', '/x/hooks', ['h', 'port']],
    ['https://{h}', '/hooks', ['h']],
    ['{scheme}://{h}/x', '/x/hooks', ['scheme', 'h']],
    ['//{h}/x', '/x/hooks', ['h']],
    ['{server}/x', '/x/hooks', ['server']],
    ['/{tenant}/v1', '/v1/hooks', ['tenant']],
    ['/a/{tenant}/{base}/v1', '/a/v1/hooks', ['tenant', 'base']],
  ] as const) {
    it(`is that of ${url} with empty variables, with a warning about each`, () => {
      const { path: served, warnings } = serve(url);
      assert.equal(served, path);
      assert.deepEqual(
        warnings.map((one) => /the variable "(\w+)" has no default/u.exec(one)?.[1]),
        names,
      );
    });
  }

  it('has the defaults of variables, which may be empty', () => {
    const variables = { h: { default: 'h.example' }, base: { default: '' }, v: { default: 2 } };
    for (const url of ['https://{h}/{base}/v{v}', '/{base}/v{v}', '/v{v}{base}/']) {
      assert.deepEqual(serve(url, variables), { path: '/v2/hooks', warnings: [] });
    }
  });

  for (const url of ['wss://h.example/x', 'ws://{h}/x', 'urn:x', 'http://[x/']) {
    it(`is the root for ${url}, with a warning`, () => {
      const { path, warnings } = serve(url, { h: { default: '' } });
      assert.equal(path, '/hooks');
      assert.equal(warnings.length, 1);
      assert.match(warnings[0] ?? '', /expected an http or https URL, or a path/u);
    });
  }
});
