// Real documents, all of them, each served alone: subscribed to with a valid request, published to with
// a valid payload, received, and unsubscribed from where the document offers it. The table says what ran.
import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Contract, Operation } from '../../../src/contract/model/contract.ts';
import { servedOf } from '../../../src/contract/compile/contracts.ts';
import { loadContract } from '../../../src/contract/compile/load.ts';
import { checkPayload } from '../../../src/contract/request/payload.ts';
import { reportEvents } from '../../../src/contract/report/report.ts';
import { sampleRequest, type RequestSample } from '../../../src/contract/sample/sample-request.ts';
import { start } from '../../api/harness.ts';
import { makeCertificate } from '../../egress/certificate.ts';
import { receive, type Receiver } from '../receiver.ts';
import { equip, type Serving } from './stage.ts';

const corpus = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'corpus', 'openapi');
const skip = existsSync(corpus) ? false : `there is no corpus at ${corpus}`;
const files = skip === false ? globSync('**/*.{yaml,yml,json}', { cwd: corpus }).toSorted() : [];

/** By the end of the file's path, for each operation with callbacks: what ran, or why nothing can. */
const table: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  'contentgroove.com/1.0.0/openapi.yaml': [
    /^POST \/api\/v1\/medias: .*"Provided URL in \/webhook_subscriptions": it has no scheme/,
  ],
  'sakari.io/1.0.1/openapi.yaml': [/^DELETE \/v1\/accounts\/.*: the request has no body$/],
  'up.com.au/v1/openapi.yaml': [
    /^POST \/api\/v1\/webhooks: Cannot read callback key "\{webhookURL\}"/,
  ],
  'zeit.co/v2019-01-07/openapi.yaml': [
    'POST /v1/integrations/webhooks 201: POST alias, POST deployment, POST deploymentError, ' +
      'POST deploymentReady, POST domain, POST domainDelete, POST domainVerify',
  ],
  'example3_from_._New_callbacks.md.yaml': [
    'POST /longrunning-thing: the request has no query parameter "heartbeat-url"',
  ],
  'example2_from_._New_callbacks.md.yaml': [
    'POST /hooks 201: POST hookEvent; DELETE /hooks/{id} 200',
  ],
  'definitions/dispatch.yml': ['POST /v0.1/dispatch/ 202: POST message-status, POST final-report'],
  'definitions/voice.v2.yml': ['POST /v2/calls/ 202: POST delivery-receipt'],
  'definitions/voice.yml': [],
  'v3.0/callback-example.yaml': ['POST /streams 201: POST onData'],
  'v3.0/link-example.yaml': [],
  'v3.1/tictactoe.yaml': ['PUT /board/{row}/{column} 202: POST statusCallback'],
  'v3.1/webhook-example.yaml': [],
  '3_0/callbacks.yaml': ['POST /streams 201: POST onData, DELETE onData'],
  'rust-server/openapi-v3.yaml': [
    'POST /register-callback 204: POST callback',
    'POST /callback-with-header 204: POST callback',
  ],
  '3_1/all_security_schemes.yaml': ['POST /v2/callbackInline 200: POST callbackAllSecuritySchemes'],
  'carrier-billing.yaml': [
    'POST /carrier-billing/vwip/payments 201: POST notifications; ' +
      'POST /carrier-billing/vwip/payments/{paymentId}/cancel 202',
    'POST /carrier-billing/vwip/payments/prepare 201: POST notifications',
  ],
  'quality-on-demand.yaml': [
    'POST /quality-on-demand/vwip/sessions 201: POST notifications; ' +
      'DELETE /quality-on-demand/vwip/sessions/{sessionId} 204',
  ],
  'CAMARA_common.yaml': [],
  'CAMARA_event_common.yaml': [],
  'webrtc-events.yaml': [
    'POST /webrtc-events/vwip/subscriptions 201: POST notifications; ' +
      'DELETE /webrtc-events/vwip/subscriptions/{subscriptionId} 204',
  ],
  'UserRegistration-callbacks-openapi.yaml': [
    'POST /user 201: POST onVerified, POST onRegistered, POST onCompleted',
  ],
  'json/callbacks.json': ['POST /streams 201: POST onData'],
  'payment-service.oas3.yaml': ['POST /invoices/{id}/subscribe 202: POST actions'],
  '__fixtures__/sample-api.yaml': ['GET /v3/users: the request has no query parameter "queryUrl"'],
  'callbacks-issue/domain.yaml': [],
  'callbacks-issue/swagger.yaml': [/^POST \/webhook 422: .*yourdomain\.com.*host has no address/],
  'all-components.yaml': [
    'POST /first: the body is text/plain, expected JSON or a form',
    'POST /second 200: POST event',
    'POST /equivalent: the request has no body',
  ],
  'external-components-1.yaml': [],
  'external-components-2.yaml': [],
  'swos-443/ref.yaml': [],
  'swos-443/root.yaml': ['POST /pet: none declared'],
  'bugs/4867.yaml': [
    /^POST \/test 422: .*host is "\$request\.query\.url", expected a public host name/,
  ],
  'test-specs/callbacks.openapi.yaml': ['POST /v2/pet: shut'],
};

type Sample = Extract<RequestSample, { kind: 'sample' }>;

interface Stage {
  service: Serving;
  receiver: Receiver;
  contract: Contract;
}

describe('the corpus, executed', { skip }, () => {
  const certificate = makeCertificate('receiver.example');
  let receiver: Receiver;
  before(async () => {
    receiver = await receive(() => 200, certificate);
  });
  after(async () => receiver[Symbol.asyncDispose]());

  for (const file of files) {
    it(file, async () => {
      const path = join(corpus, file);
      const contract = await loadContract(path, { contractRoot: corpus });
      const network = { tls: { ca: certificate.certificate } };
      await using running = await start({
        env: { RINGBACK_CONTRACT: path, RINGBACK_CONTRACT_ROOT: corpus },
        network,
      });
      const stage = { service: equip(running), receiver, contract };
      const lines: string[] = [];
      for (const operation of servedOf(contract)) {
        if (operation.role.kind === 'subscribe') lines.push(await execute(stage, operation));
      }
      const wanted = Object.entries(table).find(([tail]) => file.endsWith(`/${tail}`))?.[1];
      assert(wanted, `the table has no row for ${file}`);
      assert.equal(lines.length, wanted.length, lines.join('\n'));
      for (const [index, line] of lines.entries()) {
        const expected: string | RegExp = wanted[index] ?? '';
        if (typeof expected === 'string') assert.equal(line, expected);
        else assert.match(line, expected);
      }
    });
  }
});

/** Runs one operation from end to end; says what became of it. */
async function execute(stage: Stage, operation: Operation): Promise<string> {
  const { service, receiver, contract } = stage;
  const name = `${operation.method} ${operation.path}`;
  const sample = sampleRequest(operation, { callbackUrl: receiver.url });
  if (sample.kind === 'none') return `${name}: ${sample.why}`;
  const credentials = carry(operation, service.key);
  if (credentials === undefined) return `${name}: shut`;
  const mark = sample.target.includes('?') ? '&' : '?';
  const answer = await service.call({
    method: sample.method,
    path: sample.target + (credentials.query === '' ? '' : mark + credentials.query),
    key: null,
    headers: { ...sample.headers, ...credentials.headers },
    ...(sample.body === undefined ? {} : { body: withValidToken(sample.body) }),
  });
  const active = sample.callbacks.filter(({ inactive }) => inactive === undefined);
  if (active.length === 0) {
    assert.equal(answer.status, 400, answer.text);
    return `${name}: ${sample.callbacks[0]?.inactive ?? 'none declared'}`;
  }
  if (answer.status === 422) return `${name} 422: ${String(answer.json['detail'])}`;
  assert(operation.role.kind === 'subscribe');
  assert.equal(answer.status, operation.role.variants[0]?.answer.status, answer.text);
  const { json } = await service.call({ path: '/subscriptions?limit=1' });
  const [{ id } = { id: '' }] = json['items'] as { id: string }[];
  assert.match(id, /^sub_/);
  const heard: string[] = [];
  for (const { definition, event = '' } of active) {
    const [report] = reportEvents(contract, new Set([definition]));
    assert(report?.payload.kind === 'sample', `${definition.label} has a payload`);
    const known = receiver.requests.length;
    const { value: payload } = report.payload;
    const count = await service.deliveries(event, { payload, subscriberId: id });
    const all = await receiver.waitFor(known + Number(count));
    const request = all.slice(known).find(({ method }) => method === definition.method);
    assert(request, `${definition.label} is called with ${definition.method}`);
    if (definition.mediaType !== undefined) {
      assert.equal(request.headers['content-type'], definition.mediaType);
      assert.deepEqual(checkPayload(contract, event, JSON.parse(request.body.toString())), []);
    }
    heard.push(`${definition.method} ${event}`);
  }
  const ended = await end({ stage, operation, sample, id });
  return `${name} ${answer.status}: ${heard.join(', ')}${ended}`;
}

/** Examples of access tokens expired in the year in which their document was written. */
function withValidToken(body: string): string {
  return body.replace(/(?<="accessTokenExpiresUtc":")\d{4}/u, '2999');
}

/** Unsubscribes by the operation that belongs to it, if the document has one. */
async function end({
  stage: { service, contract },
  operation,
  sample,
  id,
}: {
  stage: Stage;
  operation: Operation;
  sample: Sample;
  id: string;
}): Promise<string> {
  const ending = servedOf(contract).find(
    ({ path, role }) => role.kind === 'unsubscribe' && path.startsWith(operation.path),
  );
  if (ending?.role.kind !== 'unsubscribe') return '';
  const { role } = ending;
  const path = ending.path.replaceAll(/\{([^{}]+)\}/gu, (_whole, name: string) =>
    name === role.id?.name ? id : (sample.raw.path.get(name) ?? ''),
  );
  const credentials = carry(ending, service.key);
  const own = sampleRequest(ending, { callbackUrl: '' });
  const { headers = {}, body } = own.kind === 'sample' ? own : {};
  const answer = await service.call({
    method: ending.method,
    path: `${path}?${credentials?.query ?? ''}`,
    key: null,
    headers: { ...headers, ...credentials?.headers },
    ...(body === undefined ? {} : { body }),
  });
  assert.equal(answer.status, role.status, answer.text);
  assert.equal(await service.stateOf(id), 'ended');
  return `; ${ending.method} ${ending.path} ${answer.status}`;
}

/** The key as the first alternative wants it; undefined where none can run. */
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
