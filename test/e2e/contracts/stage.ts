// Serves documents as an operator would: writes them to files and sets only RINGBACK_CONTRACT.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sendTo, start, type Answer, type Running, type StartOptions } from '../../api/harness.ts';

export interface Serving extends Running {
  /** Sends a subscribe call that must succeed. */
  subscribe: (call: SubscribeCall) => Promise<Subscribed>;
  /** Publishes an event, with the key of the app `default`. */
  publish: (event: string, more?: Published) => Promise<Answer>;
  /** Publishes an event that must be accepted; returns its number of deliveries. */
  deliveries: (event: string, more?: Published) => Promise<unknown>;
  callbacksOf: (subscriberId: string) => Promise<CallbackView[]>;
  stateOf: (subscriberId: string) => Promise<unknown>;
  newApp: (name: string) => Promise<Running['call']>;
}

export interface SubscribeCall {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  /** Sent as JSON, unless it is a string. */
  body?: unknown;
  status?: number;
}

export interface Subscribed {
  answer: Answer;
  id: string;
}

export interface Published {
  payload?: unknown;
  contract?: string;
  subscriberId?: string;
}

export interface CallbackView {
  position: number;
  label: string;
  event: string;
  method: string;
  url?: string;
  inactive?: string;
}

/** Serves the text of a document, or those of several files that `contracts` names. */
export async function serve(
  documents: string | Readonly<Record<string, string>>,
  options: StartOptions & { contracts?: readonly string[] } = {},
): Promise<Serving> {
  const files = typeof documents === 'string' ? { 'api.yaml': documents } : documents;
  const folder = await writeFiles(files);
  const contracts = options.contracts ?? Object.keys(files);
  try {
    const names = contracts.map((name) => join(folder, name)).join(',');
    const env = {
      RINGBACK_CONTRACT_ROOT: folder,
      ...options.env,
      RINGBACK_CONTRACT: names,
    };
    return equip(await start({ ...options, env }));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Writes files to a new folder, which the caller must remove. */
export async function writeFiles(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ringback-contracts-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

export function equip(service: Running): Serving {
  const { call } = service;
  const read = async (id: string): Promise<Record<string, unknown>> => {
    const answer = await call({ path: `/subscriptions/${id}` });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  const publish: Serving['publish'] = async (event, { payload = {}, ...more } = {}) =>
    call({ method: 'POST', path: '/events', body: { event, payload, ...more } });
  return {
    ...service,
    publish,
    subscribe: async ({ status = 201, ...more }) => {
      const answer = await call({ method: 'POST', ...more });
      assert.equal(answer.status, status, answer.text);
      return { answer, id: String(answer.json['subscriberId'] ?? answer.json['id']) };
    },
    deliveries: async (event, more) => {
      const answer = await publish(event, more);
      assert.equal(answer.status, 202, answer.text);
      return answer.json['deliveries'];
    },
    callbacksOf: async (id) => (await read(id))['callbacks'] as CallbackView[],
    stateOf: async (id) => (await read(id))['state'],
    newApp: async (name) => {
      const made = await call({ method: 'POST', path: '/apps', body: { name } });
      assert.equal(made.status, 201, made.text);
      return async (one) => sendTo(service.url, String(made.json['key']), one);
    },
  };
}

/** Builds a document from its paths, given as unindented YAML. */
export function documentOf(paths: string, more = ''): string {
  const indented = paths
    .trim()
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
  return `openapi: 3.0.4\ninfo: { title: Things, version: '1' }\n${more}\npaths:\n${indented}\n`;
}

/** A document whose operations share the label `changed`, each with a payload that requires a field of its own. */
export function sharedLabel(fields: readonly string[]): string {
  const operations = fields.map(
    (field) => `
/${field}:
  post:
    operationId: watch-${field}
    parameters: [{ name: url, in: query, required: true, schema: { type: string } }]
    responses: { '201': { description: made } }
    callbacks:
      changed:
        '{$request.query.url}':
          post:
            requestBody:
              content: { application/json: { schema: { type: object, required: [${field}] } } }
            responses: { '200': { description: ok } }`,
  );
  return documentOf(operations.join(''));
}
