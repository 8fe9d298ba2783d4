// Compiles security requirements to alternatives. A requirement that is not understood or cannot
// run must close an operation, never open it.
import { scopes } from '../../core/domain/key.ts';
import type { Scope } from '../../core/domain/key.ts';
import { bounds } from '../document/bounds.ts';
import type { Alternative, Carrier, Operation, Scheme } from './contract.ts';
import { isList, isObject } from '../document/document.ts';
import type { Expression } from '../expression/expression.ts';
import {
  at,
  child,
  describe,
  entries,
  errorAt,
  items,
  rootOf,
  text,
  warn,
} from '../document/ref-node.ts';
import type { RefNode } from '../document/ref-node.ts';

/** The alternatives of an operation: its own list, else that of the document. */
export function compileSecurity(operation: RefNode): readonly Alternative[] {
  const root = rootOf(operation);
  const list = child(operation, 'security') ?? child(root, 'security');
  if (list === undefined) return [];
  if (!isList(list.value)) {
    throw errorAt(list, 'read the security requirements', `expected a list, found ${is(list)}`);
  }
  const requirements = items(list).map(compileRequirement);
  const alternatives = requirements.filter(({ schemes }) => schemes.every(canHold));
  if (requirements.length > 0 && alternatives.length === 0) {
    warn(list, 'none of the alternatives is supported; every request is rejected');
    return [{ schemes: [{ name: 'none', credential: 'key', carrier: { in: 'nowhere' } }] }];
  }
  return alternatives;
}

/**
 * Every scheme that the document declares: what a request carries there is a credential or an app
 * id.
 */
export function declaredSchemes(place: RefNode): readonly Scheme[] {
  return entries(schemesIn(place)).map(([name, scheme]) => schemeOf(name, propertiesOf(scheme)));
}

/** `x-ringback-scope`: the scope that a key must have. */
export function compileScope(operation: RefNode): Scope | undefined {
  const place = child(operation, 'x-ringback-scope');
  if (place === undefined) return undefined;
  const scope = scopes.find((known) => known === place.value);
  if (scope !== undefined) return scope;
  const found = JSON.stringify(place.value);
  throw errorAt(place, 'read the scope', `it is ${found}, expected one of ${scopes.join(', ')}`);
}

/** `x-ringback-bound-keys`: true, or the scope that such keys need instead. */
export function compileBoundKeys(operation: RefNode): Operation['boundKeys'] {
  const place = child(operation, 'x-ringback-bound-keys');
  if (place === undefined || typeof place.value === 'boolean') {
    return place?.value === true ? 'taken' : 'refused';
  }
  const scope = scopes.find((known) => known === place.value);
  if (scope !== undefined) return scope;
  const expected = `expected true, false, or one of ${scopes.join(', ')}`;
  throw errorAt(place, 'read x-ringback-bound-keys', `${expected}, found ${describe(place.value)}`);
}

export function isAppIdScheme(scheme: Readonly<Record<string, unknown>>): boolean {
  if (isSessionScheme(scheme)) return false;
  if (scheme['x-ringback'] === 'app-id') return true;
  return scheme['in'] === 'header' && lowerCase(scheme['name']) === 'x-app-id';
}

/** Whether it is for sessions, of the console or of portals. One belongs to an app and needs no app id. */
export function isSessionScheme(scheme: Readonly<Record<string, unknown>>): boolean {
  return scheme['x-ringback'] === 'session' || scheme['x-ringback'] === 'portal';
}

/**
 * Whether an expression names a carrier of credentials: such an expression must never be evaluated.
 */
export function credentialTest(place: RefNode): (expression: Expression) => boolean {
  const headers = new Set(['authorization', 'proxy-authorization', 'cookie']);
  const queries = new Set<string>();
  for (const [, scheme] of entries(schemesIn(place))) {
    const name = text(scheme, 'name') ?? '';
    if (text(scheme, 'in') === 'header') headers.add(name.toLowerCase());
    if (text(scheme, 'in') === 'query') queries.add(name);
  }
  return (expression) => {
    if (!('name' in expression)) return false;
    if (expression.from === 'response') return expression.name === 'set-cookie';
    if (expression.kind === 'header') return headers.has(expression.name);
    return expression.kind === 'query' && queries.has(expression.name);
  };
}

function compileRequirement(place: RefNode): Alternative {
  if (!isObject(place.value)) {
    throw errorAt(place, 'read the security requirement', `expected an object, found ${is(place)}`);
  }
  const schemes = entries(place).map(([name, there]) => compileScheme(name, there));
  if (schemes.length > 0 && schemes.every(({ credential }) => credential === 'app_id')) {
    warn(place, 'requires an app id but no key; this alternative is not supported');
    return { schemes: schemes.map((scheme) => ({ ...scheme, carrier: { in: 'nowhere' } })) };
  }
  return { schemes };
}

function compileScheme(name: string, there: RefNode): Scheme {
  const declared = schemesIn(there);
  const scheme = declared && child(declared, name);
  const properties = propertiesOf(scheme);
  const compiled = schemeOf(name, properties);
  if (!canHold(compiled)) {
    const why = whyNowhere(properties, declared);
    warn(there, `an alternative with "${name}" is not supported: ${why}; requests cannot use it`);
  }
  return compiled;
}

type Properties = Readonly<Record<string, unknown>>;

function propertiesOf(scheme: RefNode | undefined): Properties {
  return Object.fromEntries(entries(scheme).map(([key, { value }]) => [key, value]));
}

function schemeOf(name: string, properties: Properties): Scheme {
  const carrier = compileCarrier(properties) ?? { in: 'nowhere' };
  return { name, credential: credentialOf(properties), carrier };
}

function credentialOf(properties: Readonly<Record<string, unknown>>): Scheme['credential'] {
  if (isSessionScheme(properties))
    return properties['x-ringback'] === 'portal' ? 'portal' : 'session';
  return isAppIdScheme(properties) ? 'app_id' : 'key';
}

function whyNowhere(
  properties: Readonly<Record<string, unknown>>,
  declared: RefNode | undefined,
): string {
  if (Object.keys(properties).length === 0) {
    const known = entries(declared).map(([key]) => key);
    const names = known.slice(0, bounds.valuesShownMax).join(' or ');
    return `it is not declared, ${names === '' ? 'none is' : `expected ${names}`}`;
  }
  if (compileCarrier(properties) === undefined) {
    return 'it needs a known "type", and an apiKey also "in" and "name"';
  }
  const words = [properties['type'], properties['scheme']];
  const kind = words.filter((word) => typeof word === 'string').join(' ');
  return `"${kind}" is not supported`;
}

function schemesIn(place: RefNode): RefNode | undefined {
  return at(rootOf(place), 'components', 'securitySchemes');
}

function compileCarrier(scheme: Readonly<Record<string, unknown>>): Carrier | undefined {
  const { type, in: place, name } = scheme;
  switch (type) {
    case 'apiKey':
      if (typeof name !== 'string' || name === '') return undefined;
      return place === 'header' || place === 'query' || place === 'cookie'
        ? { in: place, name }
        : undefined;
    case 'http':
      return httpCarrier(lowerCase(scheme['scheme']));
    case 'oauth2':
    case 'openIdConnect':
      return { in: 'bearer' };
    case 'mutualTLS':
      return { in: 'nowhere' };
    default:
      return undefined;
  }
}

function httpCarrier(scheme: string): Carrier {
  return scheme === 'bearer' || scheme === 'basic' ? { in: scheme } : { in: 'nowhere' };
}

function lowerCase(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : '';
}

function canHold({ carrier }: Scheme): boolean {
  return carrier.in !== 'nowhere';
}

function is(place: RefNode): string {
  return describe(place.value);
}
