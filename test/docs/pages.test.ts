// Runs the blocks of pages that only need a running service: each call is accepted exactly as shown. The guide,
// operations.md, receiving.md, client.md and the examples have their own tests.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { start, type Running } from '../api/harness.ts';
import { startReader, type Reader } from './run-page.ts';

const root = join(import.meta.dirname, '..', '..');
const orders = join(import.meta.dirname, '..', 'e2e', 'contracts', 'documents', 'orders.yaml');

/** In this process, with a resolver that knows no names, so that hosts on pages are never dialled. */
async function startAt(env: Record<string, string> = {}): Promise<Running> {
  return start({ env, names: {} });
}

async function readerFor(service: Running, env: Record<string, string> = {}): Promise<Reader> {
  return startReader({
    ports: { 8080: Number(new URL(service.url).port) },
    env: { KEY: service.key, ...env },
  });
}

describe('pages', () => {
  it('README.md, docs/subscriptions.md, docs/filters.md and docs/events.md run', async () => {
    await using service = await startAt();
    const body = { callbackUrl: 'http://127.0.0.1:8081/' };
    const { json } = await service.call({ method: 'POST', path: '/subscribe', body });
    const id = String(json['subscriberId']);
    await using reader = await readerFor(service, { SUBSCRIBER_ID: id });
    await reader.type(`echo ${service.key}`); // The start has printed the key.
    await reader.read('README.md', {
      'npm ci && npm start': 'this is the checkout; test/cli/serve.test.ts starts it',
      'npm ci && npm test': 'this is what runs',
      'import { createServer }': 'the receiver of the guide, which runs there',
    });
    await reader.type(`echo ${id}`);
    await reader.read('docs/filters.md');
    await reader.read('docs/subscriptions.md');
    await reader.read('docs/events.md');
  });

  it('of the examples install the package from the path that the guide uses', () => {
    const fileOf = (page: string, folder: string): string => {
      const [, file = ''] =
        /^npm install (\S+\.tgz)/m.exec(readFileSync(join(root, page), 'utf8')) ?? [];
      assert.notEqual(file, '', page);
      return resolve(root, folder, file);
    };
    const packed = fileOf('docs/guide/01-start.md', '../hello');
    for (const name of ['orders', 'shop', 'own-contract', 'print-shop']) {
      assert.equal(fileOf(`examples/${name}/README.md`, `examples/${name}`), packed);
    }
  });

  it('docs/contracts.md runs', async () => {
    await using service = await startAt({ RINGBACK_CONTRACT: orders });
    await using reader = await readerFor(service);
    await reader.read('docs/contracts.md', {
      'ringback serve --contract orders.yaml': 'the service runs that very document already',
    });
  });
});
