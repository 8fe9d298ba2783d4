// `ringback event-types` and `ringback types`, against a real service and real documents.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startCommanded, type Commanded } from './command-stage.ts';
import { newFolder, type Folder } from './ringback-process.ts';

let commanded: Commanded;
let folder: Folder;
before(async () => {
  commanded = await startCommanded();
  folder = await newFolder();
});
after(async () => {
  await commanded[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

async function file(name: string, value: unknown): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
}

const order = {
  type: 'object',
  required: ['orderId'],
  properties: { orderId: { type: 'integer' }, note: { type: 'string' } },
};

async function outOf(...args: string[]): Promise<string> {
  const { code, out, err } = await commanded.run(args);
  assert.deepEqual([code, err], [0, '']);
  return out;
}

describe('ringback event-types', () => {
  it('declares, lists and deletes', async () => {
    const schema = await file('order.json', order);
    const example = await file('example.json', { orderId: 7 });
    const put = ['event-types', 'put', 'order.created', '--schema', schema, '--example', example];
    const more = ['--description', 'An order was placed', '--deprecated'];
    assert.equal(await outOf(...put), 'Declared order.created: version 1, active.\n');
    const declared = await commanded.json([...put, ...more]);
    assert.deepEqual(
      [declared['schema'], declared['example'], declared['state'], declared['version']],
      [order, { orderId: 7 }, 'deprecated', 1],
    );
    const listed = await outOf('event-types');
    assert.match(listed, /^EVENT +STATE +VERSION +SOURCE +CONTRACT +DESCRIPTION$/m);
    assert.match(
      listed,
      /^order\.created +deprecated +1 +declared +Ringback +An order was placed$/m,
    );
    const { items } = (await commanded.json(['event-types'])) as { items: { event: string }[] };
    assert.equal(items.at(-1)?.event, 'order.created');
    assert.equal(
      await outOf('event-types', 'delete', 'order.created'),
      'Deleted the event type order.created.\n',
    );
    const again = await commanded.run(['event-types', 'delete', 'order.created']);
    assert.equal(again.code, 1);
    assert.match(again.err, /The app declares no event type "order\.created"/);
  });

  it('says what is wrong with a schema, and where', async () => {
    const wrong = await file('wrong.json', { properties: { a: { kind: 'x' } } });
    const { code, err } = await commanded.run(['event-types', 'put', 'a', '--schema', wrong]);
    assert.equal(code, 1);
    assert.match(err, /body#\/schema\/properties\/a\/kind is not a supported keyword/);
    const text = await file('text.json', '{"a"');
    const unread = await commanded.run(['event-types', 'put', 'a', '--schema', text]);
    assert.match(unread.err, /^Cannot read ".*text\.json": it is not valid JSON.*, expected JSON/);
    const list = await file('list.json', '[]');
    const other = await commanded.run(['event-types', 'put', 'a', '--schema', list]);
    assert.match(other.err, /^Cannot use the schema in ".*list\.json": expected a JSON object/);
  });

  for (const [args, expected] of [
    [['putt', 'a'], /found "putt", did you mean "put"\?/],
    [['put', 'a'], /--schema is missing/],
    [['put'], /no NAME given/],
    [['delete'], /no NAME given/],
    [['delete', 'a', 'b'], /Cannot delete "b": expected at most one NAME/],
    [['list', 'a'], /Cannot list "a": expected at most one NAME/],
    [['delete', 'a', '--schema', 'x'], /--schema/],
  ] as const) {
    it(`refuses ${args.join(' ')}`, async () => {
      const { code, err } = await commanded.run(['event-types', ...args]);
      assert.equal(code, 2);
      assert.match(err, expected);
    });
  }
});

describe('ringback types', () => {
  it('prints the types of the running service', async () => {
    const schema = await file('order.json', order);
    await outOf('event-types', 'put', 'order.created', '--schema', schema);
    const printed = await outOf('types');
    assert.match(printed, /^export interface Events \{\n/);
    assert.ok(
      printed.includes(`  'order.created': {\n    orderId: number;\n    note?: string;\n  };\n`),
      printed,
    );
    assert.match(printed, /^ {2}'inProgress': \{\n/m);
    assert.deepEqual(await commanded.json(['types']), { types: printed });
  });

  it('prints those of documents', async () => {
    const document = (title: string, event: string): object => ({
      openapi: '3.1.0',
      info: { title },
      webhooks: {
        [event]: {
          post: {
            description: 'It happened',
            requestBody: {
              content: { 'application/json': { schema: { $ref: '#/components/schemas/O' } } },
            },
          },
        },
      },
      components: { schemas: { O: order } },
    });
    const one = await file('one.json', document('One', 'order.paid'));
    const two = await file('two.json', document('Two', 'order.lost'));
    const type = '{\n    orderId: number;\n    note?: string;\n  };\n';
    const comment = '  /** It happened */\n';
    assert.equal(
      await outOf('types', one, two),
      `export interface Events {\n${comment}  'order.paid': ${type}${comment}  'order.lost': ${type}}\n`,
    );
    const { code, err } = await commanded.run(['types', await file('bad.json', { openapi: '4' })]);
    assert.equal(code, 1);
    assert.match(err, /OpenAPI version is "4", expected 3\.0, 3\.1 or 3\.2/);
  });
});
