// Pages that depend on a document alone: the reference, the report, the list of event types. A document may be large,
// and they can be requested without a key, so a worker thread makes them, once for each contract, and the event loop is
// never blocked.
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Contract } from '../../contract/model/contract.ts';
import type { Contracts } from '../../contract/compile/contracts.ts';
import type { DocsPage } from '../docs/page.ts';
import { ownOperations } from '../docs/view.ts';
import type { MadePage, PagesTask } from './pages-thread.ts';

/** Each rejects if the thread failed; a failed page is not tried again. */
export interface Pages {
  docs: (contract: Contract) => Promise<Omit<DocsPage, 'html'> & { html: Buffer }>;
  report: (contract: Contract) => Promise<Buffer>;
  /** The items of a JSON list, without its brackets. */
  eventTypes: (contract: Contract) => Promise<string>;
}

export function createPages({ executed, management, builtIn }: Contracts): Pages & AsyncDisposable {
  const titles = [...new Set([...executed, management])].map(({ title }) => title);
  const own = ownOperations(builtIn);
  const made = new Map<Contract, Making>();
  const making = (contract: Contract): Making => {
    const known = made.get(contract);
    if (known !== undefined) return known;
    const others = titles.filter((title) => title !== contract.title);
    const started = startMaking({ files: contract.files, service: { others, own } });
    made.set(contract, started);
    return started;
  };
  return {
    docs: async (contract) => making(contract).docs.promise,
    report: async (contract) => making(contract).report.promise,
    eventTypes: async (contract) => making(contract).eventTypes.promise,
    [Symbol.asyncDispose]: async () => {
      for (const { worker } of made.values()) await worker.terminate();
    },
  };
}

type Made<Name extends keyof Pages> = PromiseWithResolvers<Awaited<ReturnType<Pages[Name]>>>;

interface Making {
  worker: Worker;
  docs: Made<'docs'>;
  report: Made<'report'>;
  eventTypes: Made<'eventTypes'>;
}

function startMaking(task: PagesTask): Making {
  const entry = new URL(`./pages-thread${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(entry, { workerData: task, name: 'pages', resourceLimits });
  worker.unref();
  const making: Making = {
    worker,
    docs: Promise.withResolvers(),
    report: Promise.withResolvers(),
    eventTypes: Promise.withResolvers(),
  };
  const { docs, report, eventTypes } = making;
  worker.on('message', (page: MadePage) => {
    if (page.kind === 'docs') docs.resolve({ ...page, html: asBuffer(page.html) });
    if (page.kind === 'report') report.resolve(asBuffer(page.json));
    if (page.kind === 'eventTypes') eventTypes.resolve(page.items);
  });
  const fail = (cause: unknown): void => {
    const error = new Error('Cannot make the pages of the contract: the thread ended', { cause });
    for (const one of [docs, report, eventTypes]) {
      one.promise.catch(() => undefined); // This page may not have been requested.
      one.reject(error);
    }
  };
  worker.on('error', fail);
  worker.on('exit', fail);
  return making;
}

/** The same bytes. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A document that needs too much memory ends the thread, not the service. */
const resourceLimits = { maxOldGenerationSizeMb: 1_024 } as const;
