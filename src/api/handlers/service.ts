// Handlers of the service itself: health, readiness, its contracts and its documentation. No key
// needed.
import { dump } from 'js-yaml';
import { executedOf, type Contracts } from '../../contract/compile/contracts.ts';
import { isObject } from '../../contract/document/document.ts';
import type { Contract } from '../../contract/model/contract.ts';
import { lazy } from '../../core/base/lazy.ts';
import { Problem } from '../../core/errors/problem.ts';
import { expose, expositionMediaType, type Family } from '../../core/telemetry/metric.ts';
import { listNodes, type Liveness } from '../../engine/cluster/liveness.ts';
import { createReadiness, type ReadinessDeps } from '../../engine/cluster/readiness.ts';
import type { Context } from '../../engine/context.ts';
import type { Pages } from '../pages/pages.ts';
import type { Handlers, Reply } from '../request/call.ts';
import * as fields from '../request/fields.ts';

export interface ServiceDeps extends ReadinessDeps {
  contracts: Contracts;
  pages: Pages;
  self: Pick<Liveness, 'isFresh' | 'no' | 'name' | 'role'>;
}

export function serviceHandlers({ contracts, ...deps }: ServiceDeps): Handlers {
  const { management, executed } = contracts;
  const readiness = createReadiness(deps);
  // Documents and pages are made on first use, which halves the time to start.
  const json = lazy(() => jsonPage(management.document));
  const yaml = lazy(() =>
    textPage('application/yaml', dump(management.document, { noRefs: true, lineWidth: 100 })),
  );
  const documents = new Map(
    executed.map(({ title, document }) => [title, lazy(() => jsonPage(document))]),
  );
  const shown = [...new Set([...executed, management])];
  const front = executed[0]?.title ?? management.title;
  return {
    getHealth: async () => ({ status: 200, body: { status: 'ok' } }),
    getReadiness: async () => {
      const { name: node, role } = deps.self;
      const found = await readiness();
      if (found.kind === 'ready') return { status: 200, body: { status: 'ok', node, role } };
      const detail = `The node "${node}" (${role}) is not ready: ${found.reason}`;
      throw new Problem('store_unavailable', detail, { cause: found.cause });
    },
    getOpenapiJson: async () => json(),
    getOpenapiYaml: async () => yaml(),
    listContracts: async () => ({ status: 200, body: { items: executed.map(showContract) } }),
    getContract: async ({ request }) => {
      const title = fields.pathText(request, 'title');
      const page = documents.get(title)?.();
      if (page === undefined) throw noContract(title, executed);
      return page;
    },
    getContractReport: async ({ request }) => {
      const title = fields.pathText(request, 'title');
      const contract = executed.find((one) => one.title === title);
      if (contract === undefined) throw noContract(title, executed);
      return textPage('application/json', await deps.pages.report(contract));
    },
    getDocs: async ({ request }) => {
      const title = fields.optionalText(Object.fromEntries(request.query), 'contract') ?? front;
      const contract = shown.find((one) => one.title === title);
      if (contract === undefined) throw noContract(title, shown);
      const { html, contentSecurityPolicy } = await deps.pages.docs(contract);
      const headers = { 'content-security-policy': contentSecurityPolicy };
      return { ...textPage('text/html', html), headers };
    },
  };
}

/**
 * Public and without a key: serialized once, so that clients that read slowly all share the same
 * bytes, and sending costs less than from a string.
 */
function textPage(mediaType: string, text: string | Buffer): Reply {
  const body = typeof text === 'string' ? Buffer.from(text) : text;
  return { status: 200, body, mediaType: `${mediaType}; charset=utf-8` };
}

function jsonPage(value: unknown): Reply {
  return textPage('application/json', JSON.stringify(value));
}

function showContract(contract: Contract): Record<string, unknown> {
  const { title, document, warnings } = contract;
  const info = isObject(document['info']) ? document['info'] : {};
  const operations = executedOf(contract).map(({ operationId, method, path, role }) => ({
    operationId,
    method,
    path,
    does: role.kind,
  }));
  const version = typeof info['version'] === 'string' ? info['version'] : undefined;
  return { title, version, operations, warnings: warnings.length };
}

function noContract(title: string, contracts: readonly Contract[]): Problem {
  const known = contracts.map((one) => JSON.stringify(one.title)).join(' or ');
  return new Problem('not_found', `Cannot find contract "${title}": expected ${known}`);
}

// The handler of nodes; it needs the operator scope.

export function nodeHandlers(context: Context, self: Pick<Liveness, 'no'>): Handlers {
  return {
    listNodes: async () => {
      const nodes = await listNodes(context);
      const items = nodes.map(({ no, name, role, version, startedMs, seenMs }) => ({
        name,
        role,
        version,
        startedAt: fields.time(startedMs),
        lastSeenAt: fields.time(seenMs),
        self: no === self.no(),
      }));
      return { status: 200, body: { items } };
    },
  };
}

// The metrics handler, for Prometheus.

export function metricsHandlers(read: () => Promise<readonly Family[]>): Handlers {
  return {
    getMetrics: async () => ({
      status: 200,
      body: expose(await read()),
      mediaType: expositionMediaType,
    }),
  };
}
