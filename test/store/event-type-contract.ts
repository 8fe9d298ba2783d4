// The contract of the Store port: event types of apps.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import type { EditInput, EditOutput } from '../../src/store/port/store.ts';
import { subscriptionStage } from './subscription-stage.ts';
import { newApp, newKey, type OpenSubject } from './subject.ts';

type Given = Partial<EditInput<'putEventType'>['type']>;

export function eventTypeContract(name: string, open: OpenSubject): void {
  describe(`the event type contract: ${name}`, () => {
    const { on } = subscriptionStage(open);

    const put = async (appNo: number, given: Given = {}): Promise<EditOutput<'putEventType'>> =>
      on.store.edit('putEventType', {
        appNo,
        type: {
          name: 'order.created',
          schema: '{"type":"object"}',
          description: 'An order was placed',
          example: '{"id":1}',
          state: 'active',
          ...given,
        },
      });

    it('keeps what is declared, by app and name', async () => {
      const [app, other] = [await newApp(on.store), await newApp(on.store)];
      const output = await put(app.no);
      assert(output.kind === 'created');
      assert.deepEqual(output.type, {
        name: 'order.created',
        schema: '{"type":"object"}',
        description: 'An order was placed',
        example: '{"id":1}',
        state: 'active',
        version: 1,
        createdMs: on.clock.ms,
        updatedMs: on.clock.ms,
      });
      const named = { name: 'order.created' };
      assert.deepEqual(await on.store.read('eventType', { appNo: app.no, ...named }), output.type);
      assert.equal(await on.store.read('eventType', { appNo: other.no, ...named }), undefined);
      assert.deepEqual(await on.store.read('eventTypes', { appNo: other.no }), []);
    });

    it('raises the version with the schema only', async () => {
      const app = await newApp(on.store);
      const changes: Given[] = [
        {},
        { description: undefined, example: undefined, state: 'deprecated' },
        { schema: '{"type":"string"}' },
        { schema: '{"type":"object"}' },
      ];
      const found = [];
      for (const given of changes) {
        on.clock.ms += 10;
        const output = await put(app.no, given);
        assert(output.kind !== 'full');
        const { version, createdMs, updatedMs } = output.type;
        found.push([output.kind, version, on.clock.ms - updatedMs, updatedMs - createdMs]);
      }
      assert.deepEqual(found, [
        ['created', 1, 0, 0],
        ['replaced', 1, 0, 10],
        ['replaced', 2, 0, 20],
        ['replaced', 3, 0, 30],
      ]);
      const seen = await on.store.read('eventType', { appNo: app.no, name: 'order.created' });
      assert.deepEqual([seen?.state, seen?.example], ['active', '{"id":1}']);
    });

    it('counts every change of a schema when many are written at once', async () => {
      const app = await newApp(on.store);
      const schemas = Array.from({ length: 20 }, (_, at) => `{"maxLength":${at}}`);
      await Promise.all(schemas.map(async (schema) => put(app.no, { schema })));
      const [version] = await on.store.read('eventTypeVersions', { appNo: app.no });
      assert.equal(version?.version, 20);
    });

    it('lists by name, and tells the versions', async () => {
      const app = await newApp(on.store);
      for (const each of ['b', 'é', 'B', 'a']) await put(app.no, { name: each });
      await put(app.no, { name: 'a', schema: 'true' });
      const list = await on.store.read('eventTypes', { appNo: app.no });
      assert.deepEqual(
        list.map((type) => type.name),
        ['B', 'a', 'b', 'é'],
      );
      const versions = await on.store.read('eventTypeVersions', { appNo: app.no });
      assert.deepEqual(
        versions.toSorted((one, two) => (one.name < two.name ? -1 : 1)),
        list.map(({ name: each, version, createdMs }) => ({ name: each, version, createdMs })),
      );
      assert.deepEqual(
        list.map(({ version }) => version),
        [1, 2, 1, 1],
      );
    });

    it('deletes one, which then begins with version 1 again', async () => {
      const app = await newApp(on.store);
      const named = { appNo: app.no, name: 'order.created' };
      assert.deepEqual(await on.store.edit('deleteEventType', named), { kind: 'not_found' });
      await put(app.no);
      await put(app.no, { schema: 'true' });
      assert.deepEqual(await on.store.edit('deleteEventType', named), { kind: 'deleted' });
      assert.equal(await on.store.read('eventType', named), undefined);
      const output = await put(app.no);
      assert(output.kind === 'created');
      assert.equal(output.type.version, 1);
    });

    it('refuses more characters than an app may have, and replaces what it has', async () => {
      const app = await newApp(on.store);
      const schema = JSON.stringify({ title: 'x'.repeat(limits.eventTypesCharsMax / 2) });
      const small = { description: undefined, example: undefined };
      assert.equal((await put(app.no, { name: 'a', schema, ...small })).kind, 'created');
      assert.equal((await put(app.no, { name: 'a', schema })).kind, 'replaced');
      assert.deepEqual(await put(app.no, { name: 'b', schema, ...small }), {
        kind: 'full',
        types: 2,
        chars: 2 * schema.length + 'An order was placed'.length + '{"id":1}'.length,
      });
      assert.equal((await on.store.read('eventTypes', { appNo: app.no })).length, 1);
    });

    it('is visible in lookups of a key of the app', async () => {
      const key = newKey();
      const app = await newApp(on.store, key);
      const has = async (): Promise<boolean | undefined> =>
        (await on.store.read('key', { id: key.id }))?.appHasEventTypes;
      assert.equal(await has(), false);
      await put(app.no);
      await put(app.no, { name: 'other' });
      assert.equal(await has(), true);
      await on.store.edit('deleteEventType', { appNo: app.no, name: 'order.created' });
      assert.equal(await has(), true);
      await on.store.edit('deleteEventType', { appNo: app.no, name: 'other' });
      assert.equal(await has(), false);
    });
  });
}
