// RINGBACK_OVERLAY adds extensions to a document without changing the file.
import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from '../../../src/config.ts';
import { runHere } from '../../cli/in-process.ts';
import { start } from '../../api/harness.ts';
import { receive } from '../receiver.ts';
import { documentOf, equip, writeFiles } from './stage.ts';

const document = documentOf(`
/hooks:
  post:
    requestBody:
      content: { application/json: { schema: { properties: { url: { type: string } } } } }
    responses: { '201': { description: made } }
    callbacks: { onPaid: { '{$request.body#/link}': { post: {} } } }
`);

const events = `overlay: 1.0.0
info: { title: Events, version: '1' }
actions:
  - target: $.paths['/hooks'].post.callbacks.onPaid.*
    update: { x-ringback-event: 'order.*' }
`;

const property = `overlay: 1.0.0
info: { title: Property, version: '1' }
actions:
  - target: $.paths['/hooks'].post.requestBody.content.*.schema.properties
    update: { link: { type: string } }
  - target: $.paths['/gone']
    remove: true
`;

describe('overlays', () => {
  it('are applied by serve and check, and do not change the file', async () => {
    const folder = await writeFiles({ 'api.yaml': document, 'a.yaml': events, 'b.yaml': property });
    try {
      const [api, a, b] = ['api.yaml', 'a.yaml', 'b.yaml'].map((name) => join(folder, name));
      assert(api !== undefined && a !== undefined && b !== undefined);
      assert.equal((await runHere(['check', api])).code, 1);
      const flags = await runHere(['check', api, '--overlay', a, '--overlay', b]);
      assert.equal(flags.code, 0, flags.out);
      assert.match(flags.out, /matches every event whose name starts\s+with "order\."/);
      assert.match(
        flags.out.replaceAll(/\s+/gu, ' '),
        /target "\$\.paths\['\/gone'\]" matches nothing/,
      );
      const env = { RINGBACK_OVERLAY: `${a}, ${b}` };
      assert.equal((await runHere(['check', api], { env })).code, 0);
      await using receiver = await receive();
      await using service = equip(await start({ env: { ...env, RINGBACK_CONTRACT: api } }));
      await service.subscribe({ path: '/hooks', body: { link: receiver.url } });
      assert.equal(await service.deliveries('order.paid'), 1);
      await receiver.waitFor(1);
      const docs = await service.call({ path: '/docs', key: null });
      assert.ok(
        docs.text.includes('order.*'),
        'pages rendered by the worker thread include it, too',
      );
      assert.equal(await readFile(api, 'utf8'), document);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('that cannot be applied are refused by both, with the location', async () => {
    const wrong = events.replace("$.paths['/hooks']", '$.paths[1:2]');
    const folder = await writeFiles({ 'api.yaml': document, 'a.yaml': wrong });
    try {
      const [api, overlay] = [join(folder, 'api.yaml'), join(folder, 'a.yaml')];
      const checked = await runHere(['check', api, '--overlay', overlay]);
      assert.equal(checked.code, 1);
      assert.match(
        checked.out.replaceAll(/\s+/gu, ' '),
        /a\.yaml:4:5: Cannot apply overlay .* slices/,
      );
      const env = { RINGBACK_CONTRACT: api, RINGBACK_OVERLAY: overlay };
      await assert.rejects(start({ env }), /Cannot apply overlay .* at #\/actions\/0: .* slices/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('need a contract', () => {
    const reading = readConfig({ RINGBACK_OVERLAY: 'a.yaml' });
    assert.ok(reading.kind === 'mistakes');
    assert.match(
      reading.mistakes.join(),
      /Cannot use RINGBACK_OVERLAY: it applies to RINGBACK_CONTRACT/,
    );
  });
});
