// One node on its own folder, with a receiver, for faults around it. Every event that the node accepts is recorded,
// and must reach the receiver in the end.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  serve,
  startChild,
  type Child,
  type Env,
  type Serving,
} from '../../cli/ringback-process.ts';
import { header, receive, type Receiver } from '../../e2e/receiver.ts';
import { changedSource, type SourceChange } from '../controls/change-source.ts';
import { withScratch } from '../crash/points.ts';
import type { Finding } from '../finding.ts';
import { compileShim } from '../power/shim.ts';

export type Changes = readonly SourceChange[];

/** How the shim makes the disk fail, as long as a file with that name exists. */
export type DiskFault = 'full' | 'eio' | 'rofs';

export interface Node {
  data: string;
  scratch: string;
  acked: string[];
  violations: string[];
  /** The product is broken by a control: use shorter timeouts, because some events never come. */
  isBroken: boolean;
  /** How much longer than its limit an action may take on an overloaded machine. */
  busyMs: number;
  figures: Record<string, number | string>;
  receiver: Receiver;
  start: (env?: Env) => Promise<Serving>;
  /** Starts a service that may refuse to start. */
  tryStart: () => Child;
  fault: (kind: DiskFault, body: () => Promise<void>) => Promise<void>;
  /** Publishes, and repeats it until it is accepted. */
  accept: (serving: Serving, event?: string) => Promise<string>;
  /** Records accepted events that are not listed. Refused events may be listed or not. */
  missing: (serving: Serving, when: string) => Promise<void>;
  /** Records accepted events that never came. */
  undelivered: (when: string, mostMs?: number) => Promise<void>;
}

export const key = 'k'.repeat(40);
export const auth = { 'x-api-key': key, 'content-type': 'application/json' };
const patientTurns = 40;
const againMs = 100;
const settledTurns = 3_000;
export const brokenMs = 3_000;
/** See NodeOptions. */
export const patientBusyMs = 120_000;

interface NodeOptions {
  part: string;
  changes: Changes;
  /** Needs the shim that makes the disk fail. */
  disk?: boolean;
  /** Tests that run beside many others set it so high that a slow machine cannot fail them. */
  busyMs?: number;
}

export async function onNode(
  { part, changes, disk = false, busyMs = 5_000 }: NodeOptions,
  body: (node: Node) => Promise<void>,
): Promise<Finding> {
  return withScratch(async (scratch) => {
    const shim = disk ? compileShim(scratch) : undefined;
    if (shim?.kind === 'missing') return { part, figures: {}, violations: [], skipped: shim.why };
    const root = join(scratch, 'root');
    mkdirSync(root);
    await using receiver = await receive();
    const shimEnv = shim === undefined ? {} : { LD_PRELOAD: shim.path, PROOF_ROOT: root };
    const node = makeNode({
      scratch,
      root,
      receiver,
      env: { ...shimEnv, ...changedSource(changes) },
      isBroken: changes.length > 0,
      busyMs,
    });
    await body(node);
    const { acked, violations, figures } = node;
    const came = new Set(receiver.requests.map((request) => header(request, 'webhook-id')));
    const lost = acked.filter((id) => !came.has(id)).length;
    const events = { accepted: acked.length, lost };
    return { part, figures: { accepted: acked.length, ...figures }, violations, events };
  });
}

interface Parts {
  scratch: string;
  root: string;
  receiver: Receiver;
  env: Env;
  isBroken: boolean;
  busyMs: number;
}

function makeNode({ scratch, root, receiver, env, isBroken, busyMs }: Parts): Node {
  const acked: string[] = [];
  const violations: string[] = [];
  const data = join(root, 'data');
  const settings = {
    RINGBACK_DATA: data,
    RINGBACK_API_KEY: key,
    RINGBACK_LOG: 'silent',
    RINGBACK_RETRY: Array.from({ length: 20 }, () => '200ms').join(','),
  };
  return {
    data,
    scratch,
    acked,
    violations,
    isBroken,
    busyMs,
    figures: {},
    receiver,
    start: async (more = {}) => serve({ ...settings, ...env, ...more }),
    tryStart: () => startChild(['serve'], { RINGBACK_PORT: '0', ...settings, ...env }),
    fault: async (kind, act) => {
      writeFileSync(`${root}.${kind}`, '');
      await act().finally(() => rmSync(`${root}.${kind}`));
    },
    accept: async (serving, event) => {
      const response = await patiently(async () => publish(serving, event), 202);
      const { eventId } = (await response.json()) as { eventId: string };
      acked.push(eventId);
      return eventId;
    },
    missing: async (serving, when) => {
      const found = new Set(await listed(serving));
      const lost = acked.filter((id) => !found.has(id));
      if (lost.length > 0) violations.push(`I1: ${when}: lost ${lost.join()}`);
    },
    undelivered: async (when, mostMs = 60_000) => {
      const lastMs = performance.now() + (isBroken ? brokenMs : mostMs);
      const waiting = (): string[] => {
        const came = new Set(receiver.requests.map((request) => header(request, 'webhook-id')));
        return acked.filter((id) => !came.has(id));
      };
      while (waiting().length > 0 && performance.now() < lastMs) await wait(againMs / 10);
      const left = waiting();
      if (left.length > 0) violations.push(`I1: ${when}: ${left.length} never came, ${left[0]}`);
    },
  };
}

export async function subscribe(
  { url }: Serving,
  { url: callbackUrl }: Receiver,
  controls: { retry?: readonly string[]; rateLimit?: number; ordered?: boolean } = {},
): Promise<string> {
  const body = JSON.stringify({ callbackUrl, 'x-ringback': controls });
  const response = await fetch(`${url}/subscribe`, { method: 'POST', headers: auth, body });
  if (response.status !== 201) throw new Error(`Cannot subscribe: ${await response.text()}`);
  const { subscriberId } = (await response.json()) as { subscriberId: string };
  return subscriberId;
}

export async function publish({ url }: Serving, event = 'some.fault'): Promise<Response> {
  const body = JSON.stringify({ event, payload: { message: 'hello' } });
  return fetch(`${url}/events`, { method: 'POST', headers: auth, body });
}

/** Repeats a request while it is answered with 503: on a busy machine the store may miss its deadline. */
export async function patiently(ask: () => Promise<Response>, status: number): Promise<Response> {
  for (let turn = 1; ; turn += 1) {
    const response = await ask();
    if (response.status === status) return response;
    if (response.status !== 503 || turn === patientTurns) {
      throw new Error(`I12: answered with ${response.status}, expected ${status}`);
    }
    await wait(againMs);
  }
}

export interface Stats {
  totals: { published: number; delivered: number; dead: number; cancelled: number };
  pending: number;
}

export async function statsOf({ url }: Pick<Serving, 'url'>): Promise<Stats> {
  const ask = async (): Promise<Response> => fetch(`${url}/stats?range=1h`, { headers: auth });
  return (await (await patiently(ask, 200)).json()) as Stats;
}

/** Waits until no delivery is pending or in flight, so that all outcomes are stored. */
export async function settled(serving: Pick<Serving, 'url'>): Promise<void> {
  for (let turn = 0; turn < settledTurns; turn += 1) {
    if ((await statsOf(serving)).pending === 0) return;
    await wait(againMs / 5);
  }
  throw new Error('I1: deliveries are pending, and nothing happens');
}

export async function listed({ url }: Serving): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const list = async (): Promise<Response> =>
      fetch(`${url}/events?limit=500${more}`, { headers: auth });
    const page = (await (await patiently(list, 200)).json()) as {
      items: { id: string }[];
      nextCursor: string | null;
    };
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  return ids;
}
