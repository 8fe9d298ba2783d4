import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Call } from '../../src/api/call.ts';
import { serviceHandlers, type ServiceMeans } from '../../src/api/handlers/service.ts';
import { createPages } from '../../src/api/pages/pages.ts';
import { loadContract } from '../../src/contract/load.ts';

const own = await loadContract(join(import.meta.dirname, '..', '..', 'openapi.yaml'));
const contracts = { management: own, executed: [own], known: [own] };
const pages = createPages(contracts);
const handlers = serviceHandlers({ contracts, pages } as unknown as ServiceMeans);
const call = {
  request: { query: new Map(), path: new Map([['title', own.title]]) },
} as unknown as Call;

describe('pages that everybody may read', () => {
  after(async () => pages[Symbol.asyncDispose]());

  for (const name of [
    'getDocs',
    'getOpenapiJson',
    'getOpenapiYaml',
    'getContract',
    'getContractReport',
  ]) {
    it(`are the same bytes for all who wait for them: ${name}`, async () => {
      const [one, other] = [await handlers[name]?.(call), await handlers[name]?.(call)];
      assert(one?.body instanceof Uint8Array && one.body.length > 1_000);
      assert.equal(one.body, other?.body);
    });
  }
});
