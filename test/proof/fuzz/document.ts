// Reads openapi.yaml for the fuzzer without the product's own parser, so that an error in that parser cannot hide
// itself from the fuzzer.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';

export interface Schema {
  $ref?: string;
  type?: string;
  nullable?: boolean;
  enum?: readonly unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  items?: Schema;
  minProperties?: number;
  maxProperties?: number;
  required?: readonly string[];
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: boolean | Schema;
  allOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  not?: Schema;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  explode?: boolean;
  schema: Schema;
}

export interface Response {
  content?: Readonly<Record<string, { schema?: Schema }>>;
  headers?: Readonly<Record<string, { required?: boolean }>>;
}

export interface Operation {
  operationId: string;
  method: string;
  path: string;
  scope: string | undefined;
  /** Needs no key. */
  isOpen: boolean;
  /** Accepts only a session of this kind. */
  session: 'session' | 'portal' | undefined;
  parameters: readonly Parameter[];
  body: { required: boolean; schema: Schema } | undefined;
  /** By status or `default`. */
  responses: Readonly<Record<string, Response>>;
}

export interface Document {
  operations: readonly Operation[];
  /** Follows references. */
  resolve: <T extends object>(part: T | { $ref: string }) => T;
}

type Json = Readonly<Record<string, unknown>>;

const file = join(import.meta.dirname, '..', '..', '..', 'openapi.yaml');
const methods = ['get', 'put', 'post', 'delete', 'patch'];

export function readDocument(): Document {
  const root = load(readFileSync(file, 'utf8')) as Json;
  const resolve = <T extends object>(part: T | { $ref: string }): T => {
    let found: unknown = part;
    while (isRef(found)) found = follow(root, found.$ref);
    return found as T;
  };
  const operations = Object.entries(root['paths'] as Json).flatMap(([path, item]) => {
    const shared = ((item as Json)['parameters'] ?? []) as readonly Parameter[];
    return Object.entries(item as Json)
      .filter(([method]) => methods.includes(method))
      .map(([method, raw]) => {
        const given = { path, method, shared, raw: raw as Json, always: root['security'] };
        return operationOf(given, resolve);
      });
  });
  return { operations, resolve };
}

interface Given {
  path: string;
  method: string;
  shared: readonly Parameter[];
  raw: Json;
  always: unknown;
}

function operationOf({ path, method, shared, raw, always }: Given, resolve: Resolve): Operation {
  const security = (raw['security'] ?? always) as readonly Json[];
  const own = (raw['parameters'] ?? []) as readonly Parameter[];
  const asked = raw['requestBody'] as Json | undefined;
  const body = asked && (resolve(asked) as { required?: boolean; content: Response['content'] });
  const responses = raw['responses'] as Readonly<Record<string, Response>>;
  return {
    operationId: String(raw['operationId']),
    method: method.toUpperCase(),
    path,
    scope: raw['x-ringback-scope'] as string | undefined,
    isOpen: security.length === 0,
    session: sessionIn(security),
    parameters: [...shared, ...own].map((one) => resolve(one)),
    body: body && {
      required: body.required === true,
      schema: body.content?.['application/json']?.schema ?? {},
    },
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, one]) => [status, resolve(one)]),
    ),
  };
}

function sessionIn(security: readonly Json[]): Operation['session'] {
  const [only, ...others] = security;
  if (only === undefined || others.length > 0) return undefined;
  if (Object.hasOwn(only, 'PortalSession')) return 'portal';
  return Object.hasOwn(only, 'ConsoleSession') ? 'session' : undefined;
}

type Resolve = Document['resolve'];

function isRef(value: unknown): value is { $ref: string } {
  return typeof value === 'object' && value !== null && '$ref' in value;
}

function follow(root: Json, ref: string): unknown {
  let found: unknown = root;
  for (const step of ref.slice(2).split('/')) found = (found as Json)[step];
  if (found === undefined) throw new Error(`Cannot find ${ref}`);
  return found;
}

/** `EventName` of `#/components/schemas/EventName`. */
export function nameOf(schema: Schema): string | undefined {
  return schema.$ref?.split('/').at(-1);
}
