// Serves other projects' OpenAPI documents as contracts: sends good and bad requests to their operations and
// publishes their events. Whatever a document says, no response may be a 5xx.
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';

import type { Contract, Operation as Served } from '../../../src/contract/model/contract.ts';
import { servedOf } from '../../../src/contract/compile/contracts.ts';
import { loadContract } from '../../../src/contract/compile/load.ts';
import { sampleRequest, type RequestSample } from '../../../src/contract/sample/sample-request.ts';
import { seededChance, type Chance } from '../sim/chance.ts';
import { readDocument, type Operation } from './document.ts';
import { judgeForeign } from './judge.ts';
import { isObject } from './schema-errors.ts';
import { idsIn, Pool } from './pool.ts';
import { encode, show, type FuzzRequest, type Pair } from './request.ts';
import { sendOn } from './send-on.ts';
import { openStage, type Stage } from './stage.ts';
import { makeWild } from './wild.ts';
import { openWire, type Wire } from './wire.ts';

export const corpus = join(import.meta.dirname, '../../../../shared/corpus/openapi');

export interface ForeignResult {
  documents: number;
  operations: number;
  requests: number;
  subscribed: number;
  violations: string[];
}

export interface ForeignOptions {
  seed: number;
  /** Requests per operation. */
  requests: number;
  documentsMax: number;
}

/** Undefined if the corpus is not installed. */
export async function fuzzForeign(options: ForeignOptions): Promise<ForeignResult | undefined> {
  if (!existsSync(corpus)) return undefined;
  const result: ForeignResult = {
    documents: 0,
    operations: 0,
    requests: 0,
    subscribed: 0,
    violations: [],
  };
  for (const file of globSync('**/*.{yaml,yml,json}', { cwd: corpus }).toSorted()) {
    if (result.documents >= options.documentsMax) break;
    const path = join(corpus, file);
    const contract = await loadContract(path, { contractRoot: corpus });
    const operations = servedOf(contract);
    if (operations.length === 0) continue;
    result.documents += 1;
    result.operations += operations.length;
    await fuzzDocument({ file, path, contract, operations }, options, result);
  }
  return result;
}

interface Subject {
  file: string;
  path: string;
  contract: Contract;
  operations: readonly Served[];
}

async function fuzzDocument(
  { file, path, contract, operations }: Subject,
  { seed, requests }: ForeignOptions,
  result: ForeignResult,
): Promise<void> {
  const say = (flaw: string): void =>
    void result.violations.push(`${flaw} — ${file}, seed ${seed}`);
  const store = {
    RINGBACK_DATA: ':memory:',
    RINGBACK_CONTRACT: path,
    RINGBACK_CONTRACT_ROOT: corpus,
  };
  await using stage = await openStage({ store, onViolation: say });
  using wire = openWire(stage.service.url);
  const deps = { document: readDocument(), pool: new Pool() };
  const ids: string[] = [];
  const sampleOf = sampling(stage.urls[0] ?? '');
  for (const [index, operation] of operations.entries()) {
    for (let n = 0; n < requests; n += 1) {
      const chance = seededChance(seed * 1_000_003 + index * 10_007 + n);
      const good = goodRequest(operation, { stage, chance, ids, sampleOf });
      if (good === undefined) break;
      const request = n === 0 || chance.isLucky(0.2) ? good : makeWild(good, chance);
      const answer = await sendOn(wire, request);
      result.requests += 1;
      const flaws = judgeForeign(deps, request, answer);
      if (flaws.length > 0) say(`${flaws.join('; ')} — ${show(request)}, request ${n}`);
      const text = answer?.body.toString() ?? '';
      if (answer !== undefined && answer.status < 300 && operation.role.kind === 'subscribe') {
        result.subscribed += 1;
        ids.push(...idsIn(text).filter((id) => id.startsWith('sub_')));
      }
    }
  }
  await useService({ stage, wire, contract, say, result });
}

interface Using {
  stage: Stage;
  wire: Wire;
  contract: Contract;
  say: (flaw: string) => void;
  result: ForeignResult;
}

/** Reads the pages of the contract, and publishes the example of each of its events. */
async function useService({ stage, contract, say, result }: Using): Promise<void> {
  const { service } = stage;
  const title = encode(contract.title);
  for (const path of [
    `/contracts/${title}`,
    `/contracts/${title}/report`,
    `/docs?contract=${title}`,
  ]) {
    const { status, text } = await service.call({ path });
    result.requests += 1;
    if (status !== 200) say(`undeclared: ${path} answered ${status} ${text.slice(0, 200)}`);
  }
  const types = (await service.call({ path: '/event-types' })).json['items'];
  for (const type of Array.isArray(types) ? (types as readonly unknown[]) : []) {
    if (!isObject(type)) continue;
    const event = String(type['event']).replaceAll('*', 'x');
    const body = { event, payload: type['example'] ?? {}, contract: contract.title };
    const { status, text } = await service.call({ method: 'POST', path: '/events', body });
    result.requests += 1;
    if (status >= 500) say(`5xx: publishing ${event} answered ${status} ${text}`);
  }
}

interface GoodDeps {
  stage: Stage;
  chance: Chance;
  /** Ids of subscriptions. */
  ids: readonly string[];
  sampleOf: Sample;
}

type Sample = (operation: Served, variant: string) => RequestSample;

/** Caches samples: for a schema of 100 KB, creating one takes half a second. */
function sampling(callbackUrl: string): Sample {
  const known = new Map<string, RequestSample>();
  return (operation, variant) => {
    const name = `${operation.operationId} ${variant}`;
    const options = { callbackUrl, ...(variant === '' ? {} : { variant }) };
    const sample = known.get(name) ?? sampleRequest(operation, options);
    known.set(name, sample);
    return sample;
  };
}

/** Undefined if the product cannot create a sample request. */
function goodRequest(
  operation: Served,
  { stage, chance, ids, sampleOf }: GoodDeps,
): FuzzRequest | undefined {
  const { role } = operation;
  const variant = role.kind === 'subscribe' ? chance.pick(role.variants).name : '';
  const sample = sampleOf(operation, variant);
  const credentials = credentialsOf(operation, stage);
  if (sample.kind === 'none' || credentials === undefined) return undefined;
  const { method, headers, body } = sample;
  const isEnd = role.kind === 'unsubscribe';
  const id = isEnd && ids.length > 0 ? chance.pick(ids) : undefined;
  const target = id === undefined ? sample.target : withId(sample.target, operation, id);
  const [path = '', rawQuery = ''] = target.split(/\?(.*)/s);
  const query = [rawQuery, ...credentials.query.map((pair) => pair.join('='))];
  return {
    operation: stub(operation),
    // Without a callback that can run, even a correct request may be refused.
    intent: sample.callbacks.some(({ inactive }) => inactive === undefined) ? 'valid' : 'written',
    rule: 'sample',
    caller: stage.callers[0],
    carrier: 'header',
    isForeign: false,
    method,
    path,
    query: [],
    rawQuery: query.filter((one) => one !== '').join('&'),
    headers: [...Object.entries(headers), ...credentials.headers],
    body: body === undefined ? undefined : Buffer.from(body),
  };
}

function withId(target: string, { path, role }: Served, id: string): string {
  if (role.kind !== 'unsubscribe') return target;
  if (role.id === undefined) return target;
  const { in: place, name } = role.id;
  if (place === 'path')
    return path.replaceAll(/\{([^{}]+)\}/g, (_all, each: string) => (each === name ? id : 'x'));
  return place === 'query' ? `${target.split('?', 1)[0]}?${encode(name)}=${id}` : target;
}

/** Undefined if no request can carry the credentials that the operation requires. */
function credentialsOf(
  { security }: Served,
  { service }: Stage,
): { query: Pair[]; headers: Pair[] } | undefined {
  const [first] = security;
  const query: Pair[] = [];
  const headers: Pair[] = [];
  for (const { carrier, credential } of first?.schemes ?? []) {
    const text = credential === 'app_id' ? service.appId : service.key;
    if (carrier.in === 'nowhere') return undefined;
    if (carrier.in === 'query') query.push([encode(carrier.name), text]);
    else if (carrier.in === 'header') headers.push([carrier.name, text]);
    else if (carrier.in === 'cookie') headers.push(['Cookie', `${carrier.name}=${text}`]);
    else if (carrier.in === 'bearer') headers.push(['Authorization', `Bearer ${text}`]);
    else headers.push(['Authorization', `Basic ${Buffer.from(`x:${text}`).toString('base64')}`]);
  }
  return { query, headers };
}

/** As much of the operation as `makeWild` needs. */
function stub({ operationId, method, path }: Served): Operation {
  const nothing = { parameters: [], body: undefined, responses: {} };
  return {
    operationId,
    method,
    path,
    scope: undefined,
    isOpen: false,
    session: undefined,
    ...nothing,
  };
}
