// An executable contract: an OpenAPI document compiled into values that the engine and the API can
// run. Nothing here depends on an HTTP server.
import type { IdForm } from '../../core/base/id.ts';
import type { Scope } from '../../core/domain/key.ts';
import type { Document, Warning } from '../document/document.ts';
import type { SourceFiles } from '../document/ref-node.ts';
import type { Expression } from '../expression/expression.ts';
import type { Template } from '../expression/template.ts';
import type { Validator } from '../schema/schema.ts';
import type { WriteOnly } from '../schema/write-only.ts';

/**
 * Who answers the operations of a document: Ringback, or an API whose exchanges Ringback registers. Those of an API are
 * no routes of Ringback, and no response is composed for them.
 */
export type Owner = 'ringback' | 'api';

export interface Contract {
  owner: Owner;
  /** `info.title`; names the contract in subscriptions and lists. */
  title: string;
  /** The document as it is served. */
  document: Readonly<Record<string, unknown>>;
  operations: readonly Operation[];
  /** The events that the API of the document publishes, without an operation to subscribe to them. */
  webhooks: readonly Webhook[];
  /** What was repaired, ignored or cannot run. The rest of the contract runs. */
  warnings: Warning[];
  /** What it was compiled from: plain values, so that another thread can compile it again. */
  files: SourceFiles & {
    root: Document;
    owner: Owner;
    /** Only operations that are managed were kept: see contracts.ts. */
    isManagedOnly: boolean;
    /** Warnings about the contract beside the others of its service. */
    warningsBeside: Warning[];
  };
}

export interface Webhook {
  event: string;
  /** Where it is in the document: its key, and its method in upper case. */
  key: string;
  method: string;
  description: string | undefined;
  isDeprecated: boolean;
  mediaType: string | undefined;
  /** Undefined: any payload is accepted. */
  payload: Validator | undefined;
}

export interface Operation {
  /** As in the document; by default `POST /streams`, without the path of the server. */
  operationId: string;
  /** Upper case. */
  method: string;
  /** As in the document, including `{id}`, after the path of the first server. */
  path: string;
  parameters: readonly Parameter[];
  body: RequestBody | undefined;
  /** One alternative is enough; with an empty list no key is needed. */
  security: readonly Alternative[];
  /** All security schemes of the document, whether the operation requires them or not. */
  schemes: readonly Scheme[];
  /** `x-ringback-strict-query`: undeclared query parameters are refused. */
  hasStrictQuery: boolean;
  scope: Scope | undefined;
  /** Whether a key that is bound to a customer may call it, and the scope that it needs, if another one. */
  boundKeys: 'taken' | 'refused' | Scope;
  /** Declared error responses, by `404`, `4XX` or `default`; none of managed operations. */
  errors: ReadonlyMap<string, ErrorShape>;
  role: Role;
}

/** The keys of `responses` that declare a status, the nearest first: `404`, `4XX`, `default`. */
export function responseKeys(status: number): [exact: string, range: string, rest: string] {
  return [String(status), `${String(status).charAt(0)}XX`, 'default'];
}

/** What the engine does for an operation. Managed ones have a handler of their own. */
export type Role =
  | { kind: 'managed' }
  | ({ kind: 'subscribe' } & Subscribe)
  | ({ kind: 'unsubscribe' } & Unsubscribe);

export interface Subscribe {
  variants: readonly Variant[];
  /** Its body may contain the subscription's own settings, as `x-ringback`. */
  takesControls: boolean;
  /** What its subscriptions are about, from request and response. Undefined: they have no subject. */
  subject: Template | undefined;
  /** Whose its subscriptions are, from the request. Undefined: the request may say so in its settings. */
  customer: Template | undefined;
  /** How long its subscriptions live, unless they choose an expiry. */
  expiresMs: number | undefined;
  /** The statuses by which an API accepts a request: `201`, `2XX`. Empty: any 2xx. */
  accepts: readonly string[];
}

export interface Unsubscribe {
  /** The parameter that takes the subscriber id. */
  id: Parameter | undefined;
  /** It ends what a PUT subscribed at its own path, or at the path without the last segment. */
  resource: 'own' | 'parent' | undefined;
  /** The operations whose subscriptions it ends, by operationId. */
  of: readonly string[];
  /** Undefined if an API answers. */
  answer: AnswerShape | undefined;
}

export interface Parameter {
  /** As in the document; header names are case-insensitive. */
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  required: boolean;
  /** `json`: the text is a JSON document (`content` instead of `schema`). */
  style: Style;
  explode: boolean;
  /** `?flag=` means an empty value. */
  mayBeEmpty: boolean;
  /** The type that the text is parsed as, and the schema that the value must match. */
  schema: Validator | undefined;
}

export const styles = [
  'simple',
  'label',
  'matrix',
  'form',
  'spaceDelimited',
  'pipeDelimited',
  'deepObject',
  'json',
] as const;
export type Style = (typeof styles)[number];

export interface RequestBody {
  required: boolean;
  /**
   * By media type, lower case; may contain ranges such as `application/*`. Empty: anything is
   * accepted. For `multipart/related` it is the schema of the JSON part.
   */
  content: ReadonlyMap<string, Validator | undefined>;
  /** How the fields or parts of the body are encoded, by media type and property. */
  encodings: ReadonlyMap<string, ReadonlyMap<string, Encoding>>;
  /** `x-ringback-opaque`: members of this name are kept byte for byte, wherever they are. */
  opaque: string | undefined;
}

/** Undefined members have the default of the style. */
export interface Encoding {
  contentType: string | undefined;
  style: Style | undefined;
  explode: boolean | undefined;
}

/** All schemes must be satisfied. No scheme: anonymous access. */
export interface Alternative {
  schemes: readonly Scheme[];
}

export interface Scheme {
  name: string;
  /** What is expected there: the API key itself, or the id of the app it belongs to. */
  /** `session`: of the console, `portal`: of a customer's portal. They are bound to a key and so to an app. */
  credential: 'key' | 'app_id' | 'session' | 'portal';
  carrier: Carrier;
}

export type Carrier =
  | { in: 'header' | 'query' | 'cookie'; name: string }
  | { in: 'bearer' }
  | { in: 'basic' }
  /** No request can carry it, so the scheme is never satisfied and the operation stays closed. */
  | { in: 'nowhere' };

export interface ErrorShape {
  /** Undefined: no body that could be sent is declared. */
  mediaType: string | undefined;
  schema: Validator | undefined;
  /** The properties that the body may have. */
  pointers: readonly (readonly string[])[];
  fills: readonly Fill[];
}

/** One way to use a subscribe operation. An operation without variants has one, named ''. */
export interface Variant {
  name: string;
  /** All of these must be in the request. */
  needs: readonly Expression[];
  /** And at least one of these, if there are any. */
  needsAny: readonly Expression[];
  callbacks: readonly CallbackDefinition[];
  /** Undefined if an API answers. */
  answer: AnswerShape | undefined;
  /** Of a PUT that replaces an earlier subscription, where it differs. */
  replaced: AnswerShape | undefined;
}

export interface CallbackDefinition {
  /** Stays the same as long as label, key and method do: `myEvent {$request.body#/url} POST`. */
  id: string;
  /** The `operationId` of the operation that declares it. */
  operation: string;
  label: string;
  /** The key as repaired; undefined when it can never resolve, with the reason in `inactive`. */
  target: Template | undefined;
  inactive: string | undefined;
  /** Without a URL for it, the request is still a valid use of the operation. */
  isOptional: boolean;
  /** What was wrong with the key, and how it was read instead. */
  repairs: readonly string[];
  /** Upper case. */
  method: string;
  /** The event it is subscribed to; may contain expressions. */
  event: Template;
  /** Undefined: a request without a body, such as a GET. */
  mediaType: string | undefined;
  payload: Validator | undefined;
  /** Declared statuses: `200`, `2XX`, `default`. */
  statuses: readonly string[];
  /** Parameters and credentials that the document declares for the callback. */
  additions: readonly Addition[];
  /** The receiver's status that ends the subscription. */
  unsubscribeStatus: number;
  /** `x-ringback-final`: once its delivery is delivered or dead, the subscription ends. */
  isFinal: boolean;
}

/** Built from the subscribe request, and the same in each attempt. */
export interface Addition {
  in: 'query' | 'header' | 'cookie';
  name: string;
  /** Without a value, the callback is inactive. */
  required: boolean;
  value: Template;
  /** `bearer` and `basic`: the value of an Authorization header of that scheme. */
  form: 'plain' | 'bearer' | 'basic';
  /** From `security`: sent only to the origins that the subscriber gave it for, and never recorded. */
  isCredential: boolean;
  /** Of several alternatives in `security`, the first whose credentials the request has is sent. */
  alternative: number | undefined;
  /** When the value expires; afterwards it is not sent. */
  expires: Expression | undefined;
  /** Of a credential: the parts of the request body that are never shown again. */
  secrets: readonly (readonly string[])[];
}

export interface AnswerShape {
  status: number;
  /** Of the body: `application/json`, or the JSON type that the response declares. */
  mediaType: string;
  /** Top-level properties that the response schema declares: those in the request are echoed. */
  echoes: readonly string[];
  /** What must not be echoed, at any depth; undefined: nothing is `writeOnly`. */
  writeOnly: WriteOnly | undefined;
  /** The ways to fill the body, of which the first that matches the schema is taken. */
  choices: readonly AnswerChoice[];
  /** The schema of the body. */
  schema: Validator | undefined;
  /** Where the subscriber id goes in the body, as pointer tokens. */
  idPointers: readonly (readonly string[])[];
  /** Those of them that take a number. */
  idNumbers: readonly (readonly string[])[];
  /** How the document wants the subscriber id to be written. */
  idForm: IdForm;
  /** Where the signing secret goes: the property marked `x-ringback: secret`. */
  secretPointer: readonly string[] | undefined;
  /** Path of the created resource, if the document has one. */
  location: Location | undefined;
  /** Names of the request headers that the response repeats, in lower case. */
  headers: readonly string[];
  links: readonly Link[];
}

/** One for each branch of a `oneOf` or `anyOf`. */
export interface AnswerChoice {
  /** Those of `echoes` that only other branches declare. */
  omits: readonly string[];
  fills: readonly Fill[];
}

/** A required property: the only value that its schema allows, its default, or one of the request. */
export interface Fill {
  pointer: readonly string[];
  /** `field`: the property of the request body with that name. */
  source: { kind: 'only' | 'default'; value: unknown } | { kind: 'field'; name: string };
}

export interface Location {
  /** After the path of the first server. Other parameters are those of the subscribe path. */
  path: string;
  /** The path parameter that takes the subscriber id. */
  id: string;
  /** The document declares an absolute URL. */
  isAbsolute?: boolean;
}

export interface Link {
  name: string;
  operationId: string;
  /** Parameter name, without a prefix such as `path.` → where its value comes from. */
  parameters: ReadonlyMap<string, Expression | { kind: 'constant'; value: unknown }>;
}
