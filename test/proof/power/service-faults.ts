// The disk fails under the real service: what it answers meanwhile, and what is left. While the disk is full
// it refuses and goes on by itself when there is room; after a failed sync it ends, because nothing that it
// would say about the disk could be believed.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { patienceMs, serve, type Serving } from '../../cli/child.ts';
import { changedSource, type SourceChange } from '../controls/change-source.ts';
import { withScratch } from '../crash/points.ts';
import type { Finding } from '../finding.ts';
import { compileShim } from './shim.ts';

const key = 'k'.repeat(40);
const several = 5;
const patientTurns = 20;

interface Node {
  start: () => Promise<Serving>;
  /** While a file of this name is there, the disk fails so. */
  fault: (kind: 'full' | 'eio', body: () => Promise<void>) => Promise<void>;
  acked: string[];
  violations: string[];
}

type Changes = readonly SourceChange[];

/** 503 while the disk is full, reads go on, and it heals by itself. */
export async function serveOnFullDisk(changes: Changes = []): Promise<Finding> {
  return onNode('service: disk full', changes, async (node) => {
    const { acked, violations } = node;
    await using serving = await node.start();
    for (let i = 0; i < several; i += 1) acked.push(await accepted(serving));
    const refused: number[] = [];
    await node.fault('full', async () => {
      for (let i = 0; i < several; i += 1) refused.push((await publish(serving)).status);
      missing('while it is full', await listed(serving), node);
    });
    if (refused.some((status) => status !== 503)) {
      violations.push(`I12: answered ${refused.join()} while the disk was full`);
    }
    for (let i = 0; i < several; i += 1) acked.push(await accepted(serving));
    missing('after it was full', await listed(serving), node);
  });
}

/** 503, then the end of the process; the next one has all that was promised. */
export async function serveOnFailedSync(changes: Changes = []): Promise<Finding> {
  return onNode('service: fsync fails', changes, async (node) => {
    const { acked, violations } = node;
    await using serving = await node.start();
    for (let i = 0; i < several; i += 1) acked.push(await accepted(serving));
    // The node's own heartbeat may meet the fault first: then there is nobody who could answer.
    const tryOnce = async (): Promise<number | undefined> =>
      publish(serving).then(
        (response) => response.status,
        () => undefined,
      );
    await node.fault('eio', async () => {
      const answer = await tryOnce();
      if (answer !== 503 && answer !== undefined) violations.push(`I12: answered ${answer}`);
    });
    // The next sync would succeed, and that is the trap: it says nothing about what the last one lost.
    const status = await tryOnce();
    if (status !== undefined && status !== 503) {
      violations.push(`I12: after a failed sync it goes on, and answers ${status}`);
      serving.signal('SIGKILL');
    }
    const net = setTimeout(() => {
      violations.push('I12: after a failed sync the process does not end');
      serving.signal('SIGKILL');
    }, patienceMs);
    const code = await serving.ended;
    clearTimeout(net);
    if (code === 0) violations.push('I12: the process ended as if all were well');
    await using next = await node.start();
    missing('after a failed sync', await listed(next), node);
    await accepted(next);
  });
}

async function onNode(
  part: string,
  changes: Changes,
  body: (node: Node) => Promise<void>,
): Promise<Finding> {
  return withScratch(async (scratch) => {
    const shim = compileShim(scratch);
    if (shim.kind === 'missing') return { part, figures: {}, violations: [], skipped: shim.why };
    const root = join(scratch, 'root');
    mkdirSync(root);
    const acked: string[] = [];
    const violations: string[] = [];
    await body({
      acked,
      violations,
      start: async () =>
        serve({
          RINGBACK_DATA: join(root, 'data'),
          RINGBACK_API_KEY: key,
          RINGBACK_LOG: 'silent',
          LD_PRELOAD: shim.path,
          PROOF_ROOT: root,
          ...changedSource(changes),
        }),
      fault: async (kind, act) => {
        writeFileSync(`${root}.${kind}`, '');
        await act().finally(() => rmSync(`${root}.${kind}`));
      },
    });
    return { part, figures: { accepted: acked.length }, violations };
  });
}

async function publish({ url }: Serving): Promise<Response> {
  return fetch(`${url}/events`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: '{"event":"disk.fault","payload":{"message":"hello"}}',
  });
}

/** A busy machine may be too slow for the store's deadline: then it is asked again. */
async function patiently(ask: () => Promise<Response>, status: number): Promise<Response> {
  for (let turn = 1; ; turn += 1) {
    const response = await ask();
    if (response.status === status) return response;
    if (response.status !== 503 || turn === patientTurns) {
      throw new Error(`I12: answered with ${response.status}, expected ${status}`);
    }
  }
}

async function accepted(serving: Serving): Promise<string> {
  const response = await patiently(async () => publish(serving), 202);
  const { eventId } = (await response.json()) as { eventId: string };
  return eventId;
}

async function listed({ url }: Serving): Promise<string[]> {
  const list = async (): Promise<Response> =>
    fetch(`${url}/events?limit=500`, { headers: { 'x-api-key': key } });
  const { items } = (await (await patiently(list, 200)).json()) as { items: { id: string }[] };
  return items.map(({ id }) => id);
}

/** What was accepted is there. What was refused need not be gone: 503 promises nothing. */
function missing(what: string, found: readonly string[], node: Node): void {
  const lost = node.acked.filter((id) => !found.includes(id));
  if (lost.length > 0) node.violations.push(`I1: ${what}: lost ${lost.join()}`);
}
