// The service accepts a body of POST /subscribe exactly if an independent validator accepts it by the
// published schema: over real sockets, with random bodies.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { start, type Running } from './harness.ts';

const url = 'http://127.0.0.1:9000/';
const members = ['callbackUrl', 'inProgressUrl', 'failedUrl', 'successUrl'];
const settings = fc.oneof(
  fc.constantFrom({}, null, { ordered: true }, { events: ['order.*'] }, { events: null }),
  fc.record(
    {
      events: fc.oneof(
        fc.constant(null),
        fc.array(fc.constantFrom('a b', '*', 'é', '', 'e'.repeat(257), 7), { maxLength: 3 }),
      ),
      ordered: fc.constantFrom(true, null, 'yes'),
      concurrency: fc.constantFrom(1, 128, null, 0, 1.5),
      odd: fc.constant(1),
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue(),
);

/** Often valid, and often nearly valid. */
const bodies = fc.oneof(
  fc
    .record({
      names: fc.subarray(members, { maxLength: 3 }),
      more: fc.option(settings, { nil: undefined, freq: 2 }),
      // The schema allows any string; the guard refuses URLs with 422.
      odd: fc.option(
        fc.jsonValue().filter((one) => typeof one !== 'string'),
        { nil: url, freq: 5 },
      ),
    })
    .map(({ names, more, odd }) => ({
      ...Object.fromEntries(names.map((name, at) => [name, at === 0 ? odd : url])),
      ...(more === undefined ? {} : { 'x-ringback': more }),
    })),
  fc.jsonValue(),
);

describe('the body of POST /subscribe', () => {
  let service: Running & AsyncDisposable;
  let published: Published;
  before(async () => {
    service = await start();
    const { json } = await service.call({ path: '/openapi.json', key: null });
    published = validatorsOf(json);
  });
  after(async () => service[Symbol.asyncDispose]());

  it('is accepted exactly if it matches the published schema', async () => {
    const counts = { accepted: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(bodies, fc.boolean(), async (body, isQuery) => {
        const query = isQuery
          ? `?${new URLSearchParams({ callbackUrl: url, event: 'a b' }).toString()}`
          : '';
        const answer = await service.call({
          method: 'POST',
          path: `/subscribe${query}`,
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        });
        const fits = published.whole(body) && published.ofQuery(body) === isQuery;
        counts[fits ? 'accepted' : 'refused'] += 1;
        const expected = fits ? [200, 201] : [400];
        assert(
          expected.includes(answer.status),
          `${answer.status}, expected ${expected.join(' or ')}: ${answer.text}`,
        );
      }),
      { numRuns: 600 },
    );
    assert(counts.accepted > 50 && counts.refused > 50, JSON.stringify(counts));
  });

  it('may be absent in the variant query, and only there', async () => {
    const query = new URLSearchParams({ callbackUrl: url, event: 'a' });
    const subscribe = async (more: string): Promise<number> =>
      (await service.call({ method: 'POST', path: `/subscribe${more}` })).status;
    assert.deepEqual([await subscribe(`?${query.toString()}`), await subscribe('')], [201, 400]);
  });
});

type Node = Readonly<Record<string, unknown>>;

interface Published {
  whole: ValidateFunction;
  ofQuery: ValidateFunction;
}

function validatorsOf(document: Node): Published {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'doc:', ...(asJsonSchema(document) as object) });
  const compile = (pointer: string): ValidateFunction => ajv.compile({ $ref: `doc:#${pointer}` });
  return {
    whole: compile('/paths/~1subscribe/post/requestBody/content/application~1json/schema'),
    ofQuery: compile('/components/schemas/SubscribeQuery'),
  };
}

/** OpenAPI 3.0 writes `nullable: true` where JSON Schema lists the type `null`. */
function asJsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asJsonSchema);
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, ...rest } = value as Node;
  const made = Object.fromEntries(
    Object.entries(rest).map(([name, inside]) => [name, asJsonSchema(inside)]),
  );
  return nullable === true && typeof made['type'] === 'string'
    ? { ...made, type: [made['type'], 'null'] }
    : made;
}
