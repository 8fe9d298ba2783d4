// An API that prints, its document, and a gateway in front of it. It answers every job with job_17.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../src/config.ts';
import type { StartOptions } from '../api/harness.ts';
import { newFolder } from '../cli/ringback-process.ts';
import { bodyOf, startGateway, talk, valuesOf, type Gateway, type Script } from './stage.ts';

const hook = '{$request.body#/callbackUrl}';
const requestBody = {
  required: true,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['copies'],
        properties: { copies: { type: 'integer' }, callbackUrl: { type: 'string' }, order: {} },
      },
    },
  },
};
const jobId = { in: 'path', name: 'jobId', required: true, schema: { type: 'string' } };
const job = {
  description: 'The job',
  content: { 'application/json': { schema: { properties: { jobId: {}, ref: {} } } } },
};
const document = {
  openapi: '3.1.0',
  info: { title: 'Printing', version: '1' },
  security: [{ key: [] }],
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
  paths: {
    '/jobs': {
      get: { operationId: 'listJobs', responses: { 200: job } },
      post: {
        operationId: 'startJob',
        requestBody,
        responses: { 201: job },
        callbacks: { onDone: { [hook]: { post: {} } } },
      },
    },
    '/jobs/{jobId}': {
      delete: { operationId: 'dropJob', parameters: [jobId], responses: { 204: job } },
    },
    '/orders': {
      post: {
        operationId: 'order',
        requestBody,
        responses: { 202: job },
        callbacks: { onPaid: { [`${hook}/paid?ref={$response.body#/ref}`]: { post: {} } } },
      },
    },
    '/files': {
      post: { operationId: 'upload', requestBody: {}, responses: { 201: job } },
    },
    '/reports': {
      post: {
        operationId: 'report',
        'x-ringback-subject': '$request.body#/order',
        'x-ringback-expires': 'P7D',
        requestBody,
        responses: { '2XX': job },
        callbacks: {
          onPage: { [hook]: { post: {} } },
          onReport: { [hook]: { 'x-ringback-final': true, post: {} } },
        },
      },
    },
    '/things': {
      post: {
        operationId: 'makeThing',
        requestBody,
        responses: {
          200: {
            description: 'Made',
            links: {
              made: { operationId: 'seeThing', parameters: { at: '$response.body#/made/key' } },
            },
          },
        },
        callbacks: { onThing: { [hook]: { post: {} } } },
      },
    },
    '/shelf/{at}': {
      get: {
        operationId: 'seeThing',
        parameters: [{ ...jobId, name: 'at' }],
        responses: { 200: { description: 'The thing' } },
      },
    },
    '/hook': {
      put: {
        operationId: 'setHook',
        requestBody,
        responses: { 200: job },
        callbacks: { onAny: { [hook]: { post: {} } } },
      },
    },
  },
};

/** `start` gets the path of the document, which exists until it is done. */
export async function withDocument<T>(start: (path: string) => Promise<T>): Promise<T> {
  await using folder = await newFolder();
  const path = join(folder.path, 'api.json');
  writeFileSync(path, JSON.stringify(document));
  return await start(path);
}

export async function startPrinting(
  env: Environment = {},
  options: Omit<StartOptions, 'env'> = {},
): Promise<Gateway> {
  const gateway = await withDocument((path) =>
    startGateway({ RINGBACK_CONTRACT: path, ...env }, options),
  );
  gateway.api.script = (request, socket) => {
    const isJob = request.startsWith('POST /jobs ');
    const head = isJob ? 'HTTP/1.1 201 Created' : 'HTTP/1.1 202 Accepted';
    const body = isJob ? '{"jobId":"job_17"}' : '{"ref":"a b"}';
    socket.write(
      `${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  };
  return gateway;
}

export const callbackUrl = 'http://127.0.0.1:9000/done';

export function post(path: string, body: object, lines: readonly string[] = []): string {
  const text = JSON.stringify(body);
  const head = ['Host: api.test', 'Connection: close', 'Content-Type: application/json', ...lines];
  return `POST ${path} HTTP/1.1\n${head.join('\n')}\nContent-Length: ${Buffer.byteLength(text)}\n\n${text}`;
}

export interface SubscriptionView {
  id: string;
  state: string;
  subject?: string;
  expiresAt?: string;
  endReason?: string;
  createdAt: string;
  callbacks: { url?: string; inactive?: string }[];
}

export async function subscription({ service }: Gateway, id: string): Promise<SubscriptionView> {
  const { status, json, text } = await service.call({ path: `/ringback/subscriptions/${id}` });
  assert.equal(status, 200, text);
  return json as unknown as SubscriptionView;
}

export async function subscriptions({ service }: Gateway, query = ''): Promise<SubscriptionView[]> {
  const { json } = await service.call({ path: `/ringback/subscriptions?${query}` });
  return json['items'] as SubscriptionView[];
}

/** What the API was told, and what the caller was. */
export function namedIn(text: string): string {
  const [id = '', ...others] = valuesOf(text, 'ringback-subscription');
  assert.deepEqual(others, []);
  return id;
}

export function problemIn(answer: string): [number, unknown] {
  const problem = JSON.parse(bodyOf(answer)) as Record<string, unknown>;
  return [Number(answer.split(' ')[1]), problem['code']];
}

export interface Sent {
  answer: string;
  /** Empty if the API got none. */
  request: string;
  /** The subscription that the API was told of. */
  id: string;
}

/** Sends these bytes to the gateway. */
export async function send({ api, service }: Gateway, text: string): Promise<Sent> {
  api.requests.length = 0;
  const answer = await talk(service.url, text);
  const [request = ''] = api.requests;
  return { answer, request, id: namedIn(request) };
}

/** The API answers with this script while `work` runs. */
export async function answeredBy<T>(
  { api }: Gateway,
  script: Script,
  work: () => Promise<T>,
): Promise<T> {
  const { script: before } = api;
  api.script = script;
  try {
    return await work();
  } finally {
    api.script = before;
  }
}
