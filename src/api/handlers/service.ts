// Handlers of the service itself: is it there, can it work, what does it offer. No key needed.
import { dump } from 'js-yaml';
import type { Contract } from '../../contract/contract.ts';
import { Problem } from '../../core/problem.ts';
import type { Context } from '../../engine/context.ts';
import type { Handlers } from '../call.ts';
import { docsPage } from '../docs/page.ts';

export function serviceHandlers(context: Context, contract: Contract): Handlers {
  const json = JSON.stringify(contract.document);
  const yaml = dump(contract.document, { noRefs: true, lineWidth: 100 });
  const page = docsPage(contract);
  return {
    getHealth: async () => ({ status: 200, body: { status: 'ok' } }),
    getReadiness: async () => {
      await context.store.read('health', {}).catch((cause: unknown) => {
        throw new Problem('store_unavailable', 'The store does not answer', { cause });
      });
      return { status: 200, body: { status: 'ok' } };
    },
    getOpenapiJson: async () => ({ status: 200, body: json, mediaType: 'application/json' }),
    getOpenapiYaml: async () => ({ status: 200, body: yaml, mediaType: 'application/yaml' }),
    getDocs: async () => ({
      status: 200,
      body: page.html,
      mediaType: 'text/html',
      headers: { 'content-security-policy': page.contentSecurityPolicy },
    }),
  };
}
