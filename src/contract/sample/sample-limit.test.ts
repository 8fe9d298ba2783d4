import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bounds } from '../document/bounds.ts';
import { compileContract } from '../compile/compile.ts';
import type { Contract } from '../model/contract.ts';
import { at, openSource } from '../document/ref-node.ts';
import { makeReport, reportEvents } from '../report/report.ts';
import { definitionsOf } from '../request/payload.ts';
import { sampleRequest } from './sample-request.ts';
import { contractWork, outOfWork, sampleOf } from './sample.ts';
import { makeValidator } from '../schema/schema.ts';
import type { Validator } from '../schema/schema.ts';

type Schema = Record<string, unknown>;

const chainLength = 40;

/** `s0` leads to `s1` and so on: each uses the next one in the given way. */
function chain(use: (next: Schema) => Schema): Record<string, Schema> {
  const names = Array.from({ length: chainLength }, (_none, index) => index);
  const schemas = names.map((index) => [`s${index}`, use({ $ref: `#/S/s${index + 1}` })]);
  return Object.fromEntries([...schemas, [`s${chainLength}`, { type: 'string' }]]);
}

function validator(root: Record<string, unknown>): Validator {
  const source = openSource({ path: 'api.yaml', root: { openapi: '3.1.0', ...root } });
  const place = at(source, 'S', 's0');
  assert(place);
  return makeValidator(place, at(source, 'holder'));
}

/** A validator that counts its checks. */
function counting(inner: Validator): { validator: Validator; checks: () => number } {
  let checks = 0;
  const check: Validator['check'] = (value, work) => {
    checks += 1;
    return inner.check(value, work);
  };
  return { validator: { ...inner, check }, checks: () => checks };
}

const shared = {
  members: (next: Schema): Schema => ({
    type: 'object',
    required: ['a', 'b'],
    properties: { a: next, b: next },
  }),
  branches: (next: Schema): Schema => ({ oneOf: [next, { allOf: [next, { not: next }] }] }),
  items: (next: Schema): Schema => ({ type: 'array', minItems: 50, items: next }),
  circles: (next: Schema): Schema => ({
    type: 'object',
    required: ['next', 'again'],
    properties: { next, again: { $ref: '#/S/s0' } },
  }),
};

describe('sampleOf: the work limit', () => {
  for (const [name, use] of Object.entries(shared)) {
    it(`ends a search in schemas that share ${name}, within its share of the work`, () => {
      const work = contractWork();
      const made = sampleOf(validator({ S: chain(use) }), work);
      assert(made.kind === 'none');
      const used = bounds.contractSampleStepsMax - work.left;
      assert(used > 0 && used <= bounds.sampleStepsMax, String(used));
      if (name !== 'circles') assert.equal(made.why, outOfWork);
    });
  }

  it('reports it, and neither reads nor checks anything, once no work is left', () => {
    const { validator: subject, checks } = counting(validator({ S: { s0: { type: 'string' } } }));
    const described = (): never => assert.fail('the schema was read');
    const made = sampleOf({ ...subject, described }, { left: 0 });
    assert.deepEqual(made, { kind: 'none', why: outOfWork });
    assert.equal(checks(), 0);
  });

  it('takes the examples of the document first, with one check', () => {
    const example = Array.from({ length: 50 }, () => 'x');
    const S = { s0: { type: 'array', items: { anyOf: [{ $ref: '#/S/s1' }, { type: 'string' }] } } };
    const others = chain(shared.members);
    const subject = validator({ S: { ...others, ...S }, holder: { example } });
    const { validator: counted, checks } = counting(subject);
    assert.deepEqual(sampleOf(counted), { kind: 'sample', value: example });
    assert.equal(checks(), 1);
  });

  it('makes required properties before optional ones', () => {
    const count = bounds.sampleValuesAllMax;
    const optional = Array.from({ length: 300 }, (_none, index) => [
      `o${index}`,
      { type: 'array', items: { type: 'integer' }, minItems: Math.ceil(count / 300) },
    ]);
    const properties = Object.fromEntries([...optional, ['last', { type: 'boolean' }]]);
    const schema = { type: 'object', required: ['last'], properties };
    const { validator: counted, checks } = counting(validator({ S: { s0: schema } }));
    const made = sampleOf(counted);
    assert(made.kind === 'sample');
    assert.equal(Object.keys(made.value as object)[0], 'last');
    assert.equal(checks(), 1);
  });

  it('counts the size of a large example, so that a report stays small', () => {
    const example = 'x'.repeat(1_000_000);
    const work = contractWork();
    assert.equal(sampleOf(validator({ S: { s0: {} }, holder: { example } }), work).kind, 'sample');
    const used = bounds.contractSampleStepsMax - work.left;
    assert(used >= example.length * bounds.printStepsEach, String(used));
  });
});

/** Operations with a callback each, whose payload is the schema of that name. */
function contractOf(payloads: readonly string[]): Contract {
  const paths = payloads.map((name, index) => {
    const schema = { $ref: `#/S/${name}` };
    const callback = { post: { requestBody: { content: { 'application/json': { schema } } } } };
    const text = { type: 'string' };
    const parameters = [{ name: 'url', in: 'query', required: true, schema: text }];
    const callbacks = { [`e${index}`]: { '{$request.query.url}': callback } };
    return [`/hooks${index}`, { post: { parameters, callbacks } }];
  });
  const root = {
    openapi: '3.1.0',
    info: { title: 'T' },
    paths: Object.fromEntries(paths),
    S: { ...chain(shared.members), plain: { type: 'integer' } },
  };
  return compileContract({ path: 'api.yaml', root });
}

describe('makeReport: the work limit', () => {
  it('is shared by all examples of a contract, and is reported where it was reached', () => {
    const many = Array.from({ length: 20 }, (_none, index) => `s${index}`);
    const { subscribes, events, cannotRun } = makeReport(contractOf(many), '');
    assert.deepEqual(cannotRun, []);
    assert.equal(subscribes.length, many.length);
    for (const { payload } of events) {
      assert(payload.kind === 'none');
      assert(payload.why.endsWith(outOfWork), payload.why);
    }
  });

  it('leaves work for the examples after an expensive one', () => {
    const { events } = makeReport(contractOf(['s0', 'plain']), '');
    assert.deepEqual(
      events.map(({ payload }) => payload.kind),
      ['none', 'sample'],
    );
  });
});

describe('makeReport: many callbacks', () => {
  it('finds an example for each of 3,000 within the work limit of one contract', () => {
    // A tenth of them may use a tenth of the work.
    const count = 300;
    const bodyOf = (schema: Schema): Schema => ({
      required: true,
      content: { 'application/json': { schema } },
    });
    const payload = (index: number): Schema => ({
      type: 'object',
      required: ['id', 'kind'],
      properties: {
        id: { type: 'string', format: 'uuid' },
        kind: { type: 'string' },
        [`items${index}`]: { type: 'array', items: { $ref: '#/Item' } },
        at: { type: 'string', format: 'date-time' },
      },
    });
    const url = { type: 'string', format: 'uri' };
    const body = bodyOf({ type: 'object', required: ['url'], properties: { url } });
    const paths = Array.from({ length: count }, (_none, index) => {
      const callback = {
        '{$request.body#/url}': { post: { requestBody: bodyOf(payload(index)) } },
      };
      return [
        `/h${index}`,
        { post: { requestBody: body, callbacks: { [`e${index}`]: callback } } },
      ];
    });
    const properties = { a: { type: 'string' }, b: { type: 'integer', minimum: 3 } };
    const root = {
      openapi: '3.1.0',
      info: { title: 'T' },
      paths: Object.fromEntries(paths),
      Item: { type: 'object', properties },
    };
    const contract = compileContract({ path: 'api.yaml', root });
    const work = { left: bounds.contractSampleStepsMax / 10 };
    for (const operation of contract.operations) {
      const made = sampleRequest(operation, { callbackUrl: 'https://example.com/' }, work);
      assert.equal(made.kind, 'sample');
    }
    const events = reportEvents(contract, new Set(definitionsOf(contract)), work);
    assert.equal(events.filter(({ payload: { kind } }) => kind === 'sample').length, count);
    assert(work.left >= 0);
  });
});
