// Runs the official JSON Schema Test Suite: draft 2020-12 as OpenAPI 3.1, draft 4 as OpenAPI 3.0. No npm package ships it;
// the folder `json` of the Python package jsonschema (the source archive of 4.26.0 on PyPI) does. Name that folder in
// JSON_SCHEMA_TEST_SUITE to run these tests.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, it } from 'node:test';
import { at, openSource } from '../document/ref-node.ts';
import { makeValidator } from './schema.ts';

const shared = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'corpus');
const suite = process.env['JSON_SCHEMA_TEST_SUITE'] ?? join(shared, 'json-schema-test-suite');
const skip = existsSync(suite) ? false : `there is no test suite at ${suite}`;

interface Group {
  description: string;
  schema: unknown;
  tests: readonly { description: string; data: unknown; valid: boolean }[];
}

/** Tests that do not apply, by reason; the paths and names are matched as `file: group: test`. */
const drafts = [
  {
    folder: 'draft2020-12',
    openapi: '3.1.0',
    reasons: {
      'references are followed to files and JSON pointers, not to $id, $anchor or URLs':
        /^(?:anchor|dynamicRef|refRemote)\.json|\$dynamicRef|^defs\.json: .*metaschema|^ref\.json: (?:remote ref|Recursive ref|ref(?:s with| with abs| to (?:if|then|else))|relative refs with|\$id |order of|simple URN|URN |ref with abs)/,
      'formats are asserted, as authors of APIs expect': /^format\.json: .*only an annotation/,
      'there are no custom vocabularies': /^vocabulary\.json/,
    },
  },
  {
    folder: 'draft4',
    openapi: '3.0.4',
    reasons: {
      'references are followed to files and JSON pointers, not to id or URLs':
        /^refRemote\.json|^definitions\.json: .*metaschema|^ref\.json: (?:\$ref prevents|remote ref|Recursive|Location|id must)/,
      'OpenAPI has no lists of items':
        /^(?:additionalItems|items)\.json|relative pointer ref to array|an array of items/,
      'OpenAPI has no dependencies': /^dependencies\.json/,
    },
  },
  {
    folder: join('draft2020-12', 'optional', 'format'),
    openapi: '3.1.0',
    reasons: {
      'the guard checks URLs': /^uri(?:-reference)?\.json/,
      'formats of internationalized texts are not asserted': /^(?:idn-|iri)/,
      'quoted and literal parts of e-mail addresses are not accepted':
        /^email\.json: .*(?:quoted string|address-literal)/,
      'an escape without meaning is read as in the legacy mode': /^ecmascript-regex\.json/,
    },
  },
];

describe('the official JSON Schema Test Suite', { skip }, () => {
  for (const { folder, openapi, reasons } of drafts) {
    it(`${folder.replaceAll(sep, '/')}: gives every verdict that applies`, (context) => {
      const left = new Map<string, number>();
      let count = 0;
      for (const { name, isRight, detail } of verdicts(join(suite, 'tests', folder), openapi)) {
        count += 1;
        if (isRight) continue;
        const reason = Object.entries(reasons).find(([, names]) => names.test(name))?.[0];
        assert.ok(reason !== undefined, `${name}: ${detail}`);
        left.set(reason, (left.get(reason) ?? 0) + 1);
      }
      assert.ok(count > 400, `${count} tests`);
      context.diagnostic(`${count} tests`);
      for (const [reason, many] of left) context.diagnostic(`${many} do not apply: ${reason}`);
    });
  }
});

interface Verdict {
  name: string;
  isRight: boolean;
  detail: string;
}

function* verdicts(folder: string, openapi: string): Iterable<Verdict> {
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    const groups = JSON.parse(readFileSync(join(folder, file), 'utf8')) as readonly Group[];
    for (const { description, schema, tests } of groups) {
      const check = checkOf(schema, openapi);
      for (const { description: test, data, valid } of tests) {
        const faults = check(data);
        const detail = `expected ${valid ? 'valid' : 'invalid'}, got ${JSON.stringify(faults)}`;
        const name = `${file}: ${description}: ${test}`;
        yield { name, isRight: (faults.length === 0) === valid, detail };
      }
    }
  }
}

/** References are relative to the schema, so it becomes the whole document. */
function checkOf(schema: unknown, openapi: string): ReturnType<typeof makeValidator>['check'] {
  const isWhole = typeof schema === 'object';
  const root = isWhole ? { ...schema, openapi } : { openapi, S: schema };
  const source = openSource({ path: 'api.json', root });
  const place = isWhole ? source : at(source, 'S');
  assert.ok(place);
  return makeValidator(place).check;
}
