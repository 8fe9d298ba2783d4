// An API that prints, its document, and a gateway in front of it. It answers every job with job_17.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../src/config.ts';
import type { StartOptions } from '../api/harness.ts';
import { newFolder } from '../cli/ringback-process.ts';
import { startGateway, type Gateway } from './stage.ts';

const hook = '{$request.body#/callbackUrl}';
const requestBody = {
  required: true,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['copies'],
        properties: { copies: { type: 'integer' }, callbackUrl: { type: 'string' } },
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
