// Runs one document like a user: `ringback check`, a service that serves it, and for each operation with
// callbacks a sample request, an event to each callback, and the end of the subscription.
import assert from 'node:assert/strict';
import type { Checked } from '../../../src/cli/check/check.ts';
import { servedOf } from '../../../src/contract/compile/contracts.ts';
import { loadContract } from '../../../src/contract/compile/load.ts';
import { ContractError } from '../../../src/contract/document/document.ts';
import { explainError } from '../../../src/contract/document/locate.ts';
import { printTemplate } from '../../../src/contract/expression/template.ts';
import type { Contract, Operation } from '../../../src/contract/model/contract.ts';
import { makeReport, reportEvents } from '../../../src/contract/report/report.ts';
import { checkPayload } from '../../../src/contract/request/payload.ts';
import {
  sampleRequest,
  type RequestSample,
  type SampledCallback,
} from '../../../src/contract/sample/sample-request.ts';
import { contractWork } from '../../../src/contract/sample/sample.ts';
import { start, type Answer } from '../../api/harness.ts';
import { runHere } from '../../cli/in-process.ts';
import { equip, type Serving } from '../../e2e/contracts/stage.ts';
import type { Received, Receiver } from '../../e2e/receiver.ts';
import { quiet } from '../../e2e/stage.ts';
import type { Certificate } from '../../egress/certificate.ts';
import { openJudge, type AnswerJudge, type Misfit } from './answer-judge.ts';

export interface DocumentResult {
  title: string;
  openapi: string;
  check: Verdict & { code: number };
  /** The result of serving it. */
  serve: Verdict;
  operations: readonly OperationResult[];
  /** The steps that `check` spends on examples, of its work limit. */
  steps: number;
}

export interface Verdict {
  /** Why a service does not start. */
  refusal: string | undefined;
  /** The operations that cannot run, each with the reason. */
  cannotRun: readonly string[];
}

export interface OperationResult {
  /** `POST /hooks`, with the variant, if there are several. */
  name: string;
  /** The status of the sample request; undefined if no request can be made, or its key cannot be sent. */
  status: number | undefined;
  /** Why it creates no subscription. */
  why: string | undefined;
  /** `ringback check` says that it cannot run. */
  isUnable: boolean;
  /** The received callbacks: `POST created`. */
  callbacks: readonly string[];
  /** How the subscription ended: `DELETE /hooks/{id} 204`, or the status of the receiver. */
  end: string | undefined;
  answers: readonly JudgedAnswer[];
}

/** A 2xx response; `none`: to a request without a callback URL, which creates no subscription. */
export interface JudgedAnswer {
  to: 'subscribe' | 'none' | 'unsubscribe';
  misfits: readonly Misfit[];
  /** Whether `ringback check` warns about the misfits. */
  isNamed: boolean;
}

export interface RunOptions {
  receiver: Receiver;
  certificate: Certificate;
  /** Where references may lead. */
  contractRoot: string;
}

interface Stage extends RunOptions {
  service: Serving;
  contract: Contract;
  checked: Loaded;
  judge: AnswerJudge;
}

type Loaded = Exclude<Checked, { error: unknown }>;

export async function runDocument(file: string, options: RunOptions): Promise<DocumentResult> {
  const { contractRoot, certificate } = options;
  const env = { RINGBACK_CONTRACT_ROOT: contractRoot };
  const { code, out } = await runHere(['check', file, '--json'], { env });
  const [checked] = JSON.parse(out) as readonly Checked[];
  assert(checked);
  const refusal = 'error' in checked ? checked.error.message : undefined;
  const cannotRun = 'error' in checked ? [] : checked.cannotRun;
  const result = {
    title: 'error' in checked ? '' : checked.title,
    openapi: 'error' in checked ? '' : checked.openapi,
    check: { code, refusal, cannotRun },
  };
  try {
    const network = { tls: { ca: certificate.certificate } };
    await using running = await start({ env: { ...env, RINGBACK_CONTRACT: file }, network });
    const service = equip(running);
    const serve = { refusal: undefined, cannotRun: warnedOf(service.logged()) };
    if ('error' in checked) return { ...result, serve, operations: [], steps: 0 };
    const contract = await loadContract(file, { contractRoot });
    const work = contractWork();
    const limit = work.left;
    makeReport(contract, file, work);
    const judge = openJudge(file);
    const operations: OperationResult[] = [];
    for (const operation of servedOf(contract)) {
      const { role } = operation;
      for (const { name } of role.kind === 'subscribe' ? role.variants : []) {
        const stage = { ...options, service, contract, checked, judge };
        operations.push(await runOperation(stage, operation, name));
      }
    }
    return { ...result, serve, operations, steps: limit - work.left };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const serve = { refusal: explainError(error), cannotRun: [] };
    return { ...result, serve, operations: [], steps: 0 };
  }
}

function warnedOf(log: string): string[] {
  const lines = log.split('\n').filter((line) => line !== '');
  const facts = lines.map((line) => JSON.parse(line) as { msg: string; reason: string });
  return facts.filter(({ msg }) => msg === 'operation cannot run').map(({ reason }) => reason);
}

async function runOperation(
  stage: Stage,
  operation: Operation,
  variant: string,
): Promise<OperationResult> {
  const { service, receiver, checked } = stage;
  const name = `${operation.method} ${operation.path}${variant && ` (variant ${variant})`}`;
  const isUnable = checked.cannotRun.some((text) => text.startsWith(`${name} `));
  const idle = { name, status: undefined, isUnable, callbacks: [], end: undefined, answers: [] };
  const sample = sampleRequest(operation, { callbackUrl: receiver.url, variant });
  if (sample.kind === 'none') return { ...idle, why: sample.why };
  const credentials = carry(operation, service.key);
  if (credentials === undefined) return { ...idle, why: 'no supported security alternative' };
  const mark = sample.target.includes('?') ? '&' : '?';
  const send = async (body: string | undefined): Promise<Answer> =>
    service.call({
      method: sample.method,
      path: sample.target + (credentials.query === '' ? '' : mark + credentials.query),
      key: null,
      headers: { ...sample.headers, ...credentials.headers },
      ...(body === undefined ? {} : { body }),
    });
  const answer = await send(sample.body && withValidToken(sample.body));
  const { status } = answer;
  const active = sample.callbacks.filter(({ inactive }) => inactive === undefined);
  const answers = [judged(stage, { operation, to: 'subscribe', answer })].flat();
  if (active.length === 0) {
    const why = sample.callbacks[0]?.inactive ?? 'none declared';
    return { ...idle, status, answers, why };
  }
  if (status >= 300) return { ...idle, status, answers, why: String(answer.json['detail']) };
  const { json } = await service.call({ path: '/subscriptions?limit=1' });
  const [{ id } = { id: '' }] = json['items'] as { id: string }[];
  assert.match(id, /^sub_/);
  const callbacks: string[] = [];
  for (const callback of active) callbacks.push(await publishTo(stage, callback, id));
  const bare = withoutUrl(sample, receiver);
  if (bare !== undefined) {
    answers.push(...[judged(stage, { operation, to: 'none', answer: await send(bare) })].flat());
  }
  const ended = await end({ stage, operation, sample, id, active });
  return {
    name,
    status,
    why: undefined,
    isUnable,
    callbacks,
    end: ended.how,
    answers: [...answers, ...ended.answers],
  };
}

/** Publishes a sample event, and checks where and how it arrives. */
async function publishTo(
  { service, receiver, contract }: Stage,
  { definition, event = '' }: SampledCallback,
  subscriberId: string,
): Promise<string> {
  const [report] = reportEvents(contract, new Set([definition]));
  assert(report?.payload.kind === 'sample', `${definition.label} has no sample payload`);
  const known = receiver.requests.length;
  const { value: payload } = report.payload;
  const count = await service.deliveries(event, { payload, subscriberId });
  const all = await receiver.waitFor(known + Number(count));
  const request = all
    .slice(known)
    .find((one) => one.method === definition.method && isWhereItSays(one, definition, receiver));
  assert(request, `${definition.label} was not called with ${definition.method}`);
  if (definition.mediaType !== undefined) {
    assert.equal(request.headers['content-type'], definition.mediaType);
    const sent: unknown = JSON.parse(request.body.toString());
    assert.deepEqual(checkPayload(contract, event, sent).faults, []);
  }
  return `${definition.method} ${event}`;
}

/** The first expression of the key is the receiver's URL; each other one matches any text. */
function isWhereItSays(
  { url }: Received,
  { target = [] }: SampledCallback['definition'],
  receiver: Receiver,
): boolean {
  const [, rest = ''] = /^\{[^}]*\}(.*)$/su.exec(printTemplate(target)) ?? [];
  const literals = rest.split(/\{[^}]*\}/u).map((text) => RegExp.escape(text));
  const { pathname } = new URL(receiver.url);
  return new RegExp(`^${RegExp.escape(pathname)}${literals.join('[^/?&]*')}$`, 'u').test(url);
}

/** The body without the members that contain the callback URL; undefined if there are none. */
function withoutUrl({ body = '', headers }: Sample, { url }: Receiver): string | undefined {
  if (headers['content-type']?.includes('json') !== true) return undefined;
  const all = Object.entries(JSON.parse(body) as Record<string, unknown>);
  const others = all.filter(([, value]) => value !== url);
  return others.length === all.length ? undefined : JSON.stringify(Object.fromEntries(others));
}

/** The access tokens of some examples have expired since their document was written. */
function withValidToken(body: string): string {
  return body.replace(/(?<="accessTokenExpiresUtc":")\d{4}/u, '2999');
}

type Sample = Extract<RequestSample, { kind: 'sample' }>;

interface Ending {
  stage: Stage;
  operation: Operation;
  sample: Sample;
  id: string;
  active: readonly SampledCallback[];
}

/** Unsubscribes by the matching operation, if there is one, or by the receiver's status. */
async function end(ending: Ending): Promise<{ how: string; answers: readonly JudgedAnswer[] }> {
  const { stage, operation, sample, id } = ending;
  const { service, contract } = stage;
  const by = servedOf(contract).find(
    ({ path, role }) => role.kind === 'unsubscribe' && path.startsWith(operation.path),
  );
  if (by?.role.kind !== 'unsubscribe') return { how: await endByStatus(ending), answers: [] };
  const { role } = by;
  const path = by.path.replaceAll(/\{([^{}]+)\}/gu, (_whole, name: string) =>
    name === role.id?.name ? id : (sample.raw.path.get(name) ?? ''),
  );
  const credentials = carry(by, service.key);
  const own = sampleRequest(by, { callbackUrl: '' });
  const { headers = {}, body } = own.kind === 'sample' ? own : {};
  const answer = await service.call({
    method: by.method,
    path: `${path}?${credentials?.query ?? ''}`,
    key: null,
    headers: { ...headers, ...credentials?.headers },
    ...(body === undefined ? {} : { body }),
  });
  assert(answer.status < 300, answer.text);
  assert.equal(await service.stateOf(id), 'ended');
  const answers = [judged(stage, { operation: by, to: 'unsubscribe', answer })].flat();
  return { how: `${by.method} ${by.path} ${answer.status}`, answers };
}

async function endByStatus({ stage, id, active }: Ending): Promise<string> {
  const { service, receiver, contract } = stage;
  const [first] = active;
  assert(first);
  const { definition, event = '' } = first;
  const [report] = reportEvents(contract, new Set([definition]));
  const before = receiver.script;
  receiver.script = () => definition.unsubscribeStatus;
  const payload = report?.payload.kind === 'sample' ? report.payload.value : {};
  await service.deliveries(event, { payload, subscriberId: id });
  await quiet(service);
  receiver.script = before;
  assert.equal(await service.stateOf(id), 'ended');
  return String(definition.unsubscribeStatus);
}

function judged(
  { judge, checked }: Stage,
  { operation, to, answer }: Pick<JudgedAnswer, 'to'> & { operation: Operation; answer: Answer },
): JudgedAnswer | [] {
  if (answer.status >= 300) return [];
  const misfits = judge.misfits(operation, answer);
  return { to, misfits, isNamed: misfits.length > 0 && isNamed(misfits, operation, checked) };
}

/** Whether each fault has a warning; for the branches of a `oneOf`, one warning is enough. */
function isNamed(
  misfits: readonly Misfit[],
  { method, path }: Operation,
  { warnings }: Loaded,
): boolean {
  const isWarned = ({ field, message: fault }: Misfit): boolean =>
    warnings.some(({ pointer, message }) => {
      if (message.startsWith('declares no JSON')) return fault.startsWith('the media type');
      if (message.startsWith('the response requires it')) {
        return pointer.endsWith(`/${field.split(/[/ ]/u).at(-1) ?? ''}`);
      }
      return (
        message.startsWith(`the response of ${method} ${path} `) && message.includes(` ${field} `)
      );
    });
  const ofBranch = misfits.filter(({ isOfBranch }) => isOfBranch);
  const others = misfits.filter(({ isOfBranch }) => !isOfBranch);
  return others.every(isWarned) && (ofBranch.length === 0 || ofBranch.some(isWarned));
}

/** The key as the first security alternative requires it; undefined if that is not supported. */
function carry(
  { security }: Operation,
  key: string,
): { headers: Record<string, string>; query: string } | undefined {
  const headers: Record<string, string> = {};
  const query = new URLSearchParams();
  for (const { carrier } of security[0]?.schemes ?? []) {
    if (carrier.in === 'nowhere') return undefined;
    if (carrier.in === 'header') headers[carrier.name] = key;
    if (carrier.in === 'cookie') headers['cookie'] = `${carrier.name}=${key}`;
    if (carrier.in === 'query') query.set(carrier.name, key);
    if (carrier.in === 'bearer') headers['authorization'] = `Bearer ${key}`;
    if (carrier.in === 'basic') {
      headers['authorization'] = `Basic ${Buffer.from(`me:${key}`).toString('base64')}`;
    }
  }
  return { headers, query: query.toString() };
}
