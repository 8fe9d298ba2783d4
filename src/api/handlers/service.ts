// Handlers of the service itself: is it there, can it work, what does it offer. No key needed.
import { dump } from 'js-yaml';
import type { Contract } from '../../contract/contract.ts';
import { Problem } from '../../core/problem.ts';
import type { Liveness } from '../../engine/liveness.ts';
import { readiness, type ReadinessMeans } from '../../engine/readiness.ts';
import type { Handlers } from '../call.ts';
import { docsPage } from '../docs/page.ts';

export interface ServiceMeans extends ReadinessMeans {
  contract: Contract;
  self: Pick<Liveness, 'isFresh' | 'name' | 'role'>;
}

export function serviceHandlers({ contract, ...means }: ServiceMeans): Handlers {
  const json = JSON.stringify(contract.document);
  const yaml = dump(contract.document, { noRefs: true, lineWidth: 100 });
  const page = docsPage(contract);
  return {
    getHealth: async () => ({ status: 200, body: { status: 'ok' } }),
    getReadiness: async () => {
      const { name: node, role } = means.self;
      const found = await readiness(means);
      if (found.kind === 'ready') return { status: 200, body: { status: 'ok', node, role } };
      const detail = `The node "${node}" (${role}) is not ready: ${found.reason}`;
      throw new Problem('store_unavailable', detail, { cause: found.cause });
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
