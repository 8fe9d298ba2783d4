// Exchanges with an API that answers the operations of a document: which operation a request is for, and what
// expressions see of the request and of the answer. It never refuses what it cannot read: the API decides.
import assert from 'node:assert/strict';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import type { Contracts } from '../../contract/compile/contracts.ts';
import type { Message } from '../../contract/expression/evaluate.ts';
import type { Contract, Operation, Variant } from '../../contract/model/contract.ts';
import { isJson } from '../../contract/model/media.ts';
import { readRequest, type RawRequest } from '../../contract/request/request.ts';
import { withoutPrefix } from '../../core/base/id.ts';
import type { Actor } from '../../core/domain/app.ts';
import { readJson } from '../../core/base/json.ts';
import type { Problem } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import { subscriptionsNamed } from '../../engine/subscribe/exchange.ts';
import type { Context } from '../../engine/context.ts';
import { readMediaType } from '../request/raw-request.ts';
import { routeOf, type Route } from '../request/route.ts';
import { idIn, resourceIn } from './contract-handler.ts';
import { refusalOf } from './read-call.ts';

/** An operation that an API answers. */
export interface ApiOperation {
  contract: Contract;
  operation: Operation;
  /** The parameters in a path; undefined if the path is another one. */
  read: Route['read'];
}

export function apiOperations({ executed }: Pick<Contracts, 'executed'>): ApiOperation[] {
  return executed
    .filter(({ owner }) => owner === 'api')
    .flatMap((contract) =>
      contract.operations.map((operation) => {
        const { read } = routeOf(operation.path);
        return { contract, operation, read };
      }),
    );
}

export interface RequestedOperation extends ApiOperation {
  path: ReadonlyMap<string, string>;
}

/** By method, and path without a query as the caller spelled it. A slash at its end makes no difference. */
export type FindOperation = (method: string, path: string) => RequestedOperation | undefined;

export function operationFinder(operations: readonly ApiOperation[]): FindOperation {
  const found = Map.groupBy(
    operations.toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1)),
    ({ operation: { method, path } }) => groupOf(method, path),
  );
  return (method, spelled) => {
    const path = spelled.length > 1 ? spelled.replace(/\/$/u, '') : spelled;
    for (const one of found.get(groupOf(method, path)) ?? []) {
      const parameters = one.read(path) ?? one.read(`${path}/`);
      if (parameters !== undefined) return { ...one, path: parameters };
    }
    return undefined;
  };
}

/** No parameter contains a slash. */
function groupOf(method: string, path: string): string {
  const plain = path.length > 1 ? path.replace(/\/$/u, '') : path;
  return `${method} ${plain.split('/').length}`;
}

/** A path without parameters comes before one that matches it. */
function rankOf({ operation }: ApiOperation): string {
  return operation.path.replaceAll(/\{[^{}]+\}/gu, '\u{10FFFF}');
}

export interface ReadExchange {
  message: Message;
  /** Undefined: it cannot register anything. */
  variant: Variant | undefined;
  /** Why it does not fit the document. */
  refusal: Problem | undefined;
}

export function readExchange(
  { operation }: Pick<ApiOperation, 'operation'>,
  raw: RawRequest,
): ReadExchange {
  const reading = readRequest(operation, raw);
  switch (reading.kind) {
    case 'valid':
      return { ...reading, refusal: undefined };
    case 'invalid':
      return { ...reading, refusal: refusalOf(reading) };
    case 'no_variant':
      return { ...reading, variant: undefined, refusal: refusalOf(reading) };
    case 'unsupported': {
      const [mediaType = ''] = reading.offered;
      const body = raw.body && { ...raw.body, mediaType };
      return { ...readExchange({ operation }, { ...raw, body }), refusal: refusalOf(reading) };
    }
  }
}

/** The bare ids of the subscriptions that a request for an unsubscribe operation names. */
export async function namedSubscriptions(
  context: Context,
  { contract, operation }: ApiOperation,
  { app, request, target }: { app: Actor; request: Message; target: string },
): Promise<string[]> {
  const { role } = operation;
  assert(role.kind === 'unsubscribe', `${operation.operationId} ends subscriptions`);
  const own = await resourceIn({ context, contract }, { app, target, role });
  const id = own && withoutPrefix('sub', own);
  if (id !== undefined) return [id];
  const name = role.id && idIn(request, role.id);
  if (name === undefined || name === '') return [];
  return subscriptionsNamed(context, app, { contract: contract.title, operations: role.of, name });
}

/** What is gone already has ended, too. */
export function hasEnded({ method }: Pick<Operation, 'method'>, status: number): boolean {
  const isGone = status === 404 || status === 410;
  return (status >= 200 && status < 300) || (method === 'DELETE' && isGone);
}

/** `header`: names in lower case. */
export function readAnswer(
  header: ReadonlyMap<string, string>,
  body: unknown,
  url: string,
): Message {
  const location = header.get('location');
  const absolute = location === undefined ? undefined : URL.parse(location, url)?.href;
  const seen = absolute === undefined ? header : new Map([...header, ['location', absolute]]);
  return { header: seen, query: new Map(), path: new Map(), body };
}

const decoders: ReadonlyMap<string, (bytes: Uint8Array, options: object) => Promise<Buffer>> =
  new Map([
    ['gzip', promisify<Uint8Array, object, Buffer>(zlib.gunzip)],
    ['x-gzip', promisify<Uint8Array, object, Buffer>(zlib.gunzip)],
    ['deflate', promisify<Uint8Array, object, Buffer>(zlib.inflate)],
    ['br', promisify<Uint8Array, object, Buffer>(zlib.brotliDecompress)],
    ['zstd', promisify<Uint8Array, object, Buffer>(zlib.zstdDecompress)],
  ]);

/** Whether expressions can see the body of an answer with this head. */
export function isReadable(header: ReadonlyMap<string, string>): boolean {
  const type = readMediaType(header.get('content-type'));
  const coding = header.get('content-encoding')?.toLowerCase();
  const isDecoded = coding === undefined || coding === 'identity' || decoders.has(coding);
  return type !== undefined && isJson(type.mediaType) && isDecoded;
}

/** The JSON in the body of an answer, which may be compressed; undefined if there is none. */
export async function readAnswerBody(
  header: ReadonlyMap<string, string>,
  bytes: Uint8Array | undefined,
): Promise<unknown> {
  if (bytes === undefined || !isReadable(header)) return undefined;
  const decode = decoders.get(header.get('content-encoding')?.toLowerCase() ?? '');
  try {
    const plain = await (decode?.(bytes, { maxOutputLength: limits.bodyBytesMax }) ?? bytes);
    const reading = readJson(plain);
    return reading.kind === 'value' ? reading.value : undefined;
  } catch {
    return undefined; // Not what its Content-Encoding says, or too large.
  }
}
