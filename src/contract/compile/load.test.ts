import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { loadContract } from './load.ts';

const ours = join(import.meta.dirname, '..', '..', '..', 'openapi.yaml');

describe('loadContract', () => {
  it('rejects with a ContractError', async () => {
    await assert.rejects(loadContract('/gone/api.yaml'), { name: 'ContractError' });
  });

  it('requires the app id everywhere if configured, and the served document shows it', async () => {
    const { operations, document, warnings } = await loadContract(ours, { requireAppId: true });
    assert.deepEqual(warnings, []);
    assert.deepEqual(document['security'], [
      { ApiKeyHeader: [], AppId: [] },
      { ApiKeyQuery: [], AppId: [] },
      { ApiKeyCookie: [], AppId: [] },
      // A session belongs to one app.
      { ConsoleSession: [] },
      { PortalSession: [] },
    ]);
    for (const { operationId, security } of operations) {
      const isPublic = security.length === 0;
      assert.equal(
        isPublic,
        /^(get(Health|Readiness|Openapi|Docs|Contract|Console|Portal(?!Session))|listContracts|signIn|openPortal)/.test(
          operationId,
        ),
        operationId,
      );
      for (const { schemes } of security) {
        const credentials = schemes.map(({ credential }) => credential).join(' and ');
        assert.match(credentials, /^(key and app_id|session|portal)$/, operationId);
      }
    }
  });
});
