import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Call } from '../../src/api/request/call.ts';
import { serviceHandlers, type ServiceDeps } from '../../src/api/handlers/service.ts';
import { docsPage } from '../../src/api/docs/page.ts';
import { listEventTypes, reportJson } from '../../src/api/pages/contract-json.ts';
import { loadContracts } from '../../src/contract/compile/contracts.ts';
import { createPages } from '../../src/api/pages/pages.ts';
import { loadContract } from '../../src/contract/compile/load.ts';

const ownFile = join(import.meta.dirname, '..', '..', 'openapi.yaml');
const own = await loadContract(ownFile);
const contracts = { prefix: '', management: own, executed: [own], builtIn: own, known: [own] };
const pages = createPages(contracts);
const handlers = serviceHandlers({ contracts, pages } as unknown as ServiceDeps);
const call = {
  request: { query: new Map(), path: new Map([['title', own.title]]) },
} as unknown as Call;

describe('public pages', () => {
  after(async () => pages[Symbol.asyncDispose]());

  for (const name of [
    'getDocs',
    'getOpenapiJson',
    'getOpenapiYaml',
    'getContract',
    'getContractReport',
  ]) {
    it(`are the same buffer for all requests: ${name}`, async () => {
      const [one, other] = [await handlers[name]?.(call), await handlers[name]?.(call)];
      assert(one?.body instanceof Uint8Array && one.body.length > 1_000);
      assert.equal(one.body, other?.body);
    });
  }
});

describe('pages made on a worker thread', () => {
  it('equal those made on the main thread, including pages of foreign contracts', async () => {
    const fixture = join(import.meta.dirname, '..', 'e2e', 'contracts', 'documents', 'orders.yaml');
    const both = await loadContracts({ own: ownFile, foreign: [fixture] });
    await using others = createPages(both);
    const [orders] = both.executed;
    assert(orders);
    assert.equal(String(await others.report(orders)), reportJson(orders));
    assert.equal(await others.eventTypes(orders), listEventTypes(orders));
    const { html } = await others.docs(both.management);
    assert.equal(String(html), docsPage(both.management, { others: [orders.title] }).html);
  });

  it('reject for all callers if the thread fails', async () => {
    const { files } = own;
    const broken = { ...own, files: { ...files, root: { path: 'x', root: { openapi: '9' } } } };
    await using failing = createPages({
      prefix: '',
      management: broken,
      executed: [broken],
      builtIn: broken,
      known: [broken],
    });
    const waiting = [failing.docs(broken), failing.report(broken)];
    for (const one of waiting) await assert.rejects(one, /Cannot make the pages of the contract/);
  });
});
