// Authentication: executes the security requirements of an operation. One alternative suffices, all
// schemes of an alternative must hold, and every failure looks the same from outside.
import type { Alternative, Carrier, Operation, Scheme } from '../../contract/model/contract.ts';
import { isJson } from '../../contract/model/media.ts';
import { withPrefix } from '../../core/base/id.ts';
import { whenReady, type MaybePromise, allReady } from '../../core/base/maybe-promise.ts';
import type { World } from '../../core/base/world.ts';
import { hashKey, holds, type Key, type Scope } from '../../core/domain/key.ts';
import { Problem } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Identifier } from '../../engine/access/identify.ts';
import type { OpenSession } from '../../engine/access/sessions.ts';
import { type RawHead, readMediaType } from '../request/raw-request.ts';

/** Undefined: anonymous, where the contract allows it. */
export type Caller = Known | undefined;

interface Known {
  key: Key;
  /** Set if the key was identified by a session of the console or of a portal. */
  session: OpenSession | undefined;
}

export interface Deps {
  identifier: Pick<Identifier, 'identify' | 'identifySession'>;
  publicOrigin: () => string;
}

/** Prepares what depends on the operation alone once, before the first request. */
export function authenticator(
  operation: Operation,
  { identifier, publicOrigin }: Deps,
): (head: RawHead) => MaybePromise<Caller> {
  const { security, method, operationId } = operation;
  const requirements = security.map(requirementOf);
  const isOpen = allowsAnonymous(operation);
  const declared = scopeOf(operation);
  const { boundKeys } = operation;
  const ofBound = boundKeys === 'taken' || boundKeys === 'refused' ? declared : boundKeys;
  const authorize = (head: RawHead, identified: readonly Identified[]): Caller => {
    const best =
      identified.find(({ usesCookie }) => !usesCookie) ??
      identified.find(isSignedIn) ??
      identified[0];
    if (best === undefined) {
      if (isOpen) return undefined;
      throw new Problem('unauthorized', unauthorizedDetail);
    }
    const fault = best.usesCookie ? crossOriginFault({ method, head }, publicOrigin()) : undefined;
    if (fault !== undefined) {
      throw new Problem('cross_origin', `Cannot accept a key from a cookie here: ${fault}`);
    }
    const scope = best.key.customer === undefined ? declared : ofBound;
    if (scope !== undefined && !holds(best.key, scope)) {
      throw missingScope(operationId, scope, best);
    }
    refuseBoundKey(operation, best.key);
    return best;
  };
  return (head) => {
    const identified: MaybePromise<Identified | undefined>[] = [];
    for (const requirement of requirements) {
      const presented = credentialsFor(requirement, head);
      if (presented !== undefined) identified.push(identifyBy(presented, head, identifier));
    }
    return whenReady(allReady(identified), (all) => authorize(head, all.filter(isIdentified)));
  };
}

/** Operations of a document act for the customer of the key; others must declare that they do. */
function refuseBoundKey({ operationId, role, boundKeys }: Operation, { customer }: Key): void {
  if (customer === undefined || boundKeys !== 'refused' || role.kind !== 'managed') return;
  const detail = `${operationId} is not for keys of a customer, and the key is bound to ${JSON.stringify(customer)}`;
  throw new Problem('bound_key', detail);
}

function missingScope(operationId: string, scope: Scope, { key, session }: Known): Problem {
  const has = `the ${session?.portal === undefined ? 'key' : 'portal link'} has: ${key.scopes.join(', ')}`;
  return new Problem('missing_scope', `${operationId} needs the scope "${scope}", ${has}`);
}

/**
 * Anonymous callers get small bodies only; otherwise they could fill the memory and the room for
 * large bodies.
 */
export function bodyBytesMaxOf(operation: Operation): number {
  return allowsAnonymous(operation) ? limits.smallBodyBytes : limits.bodyBytesMax;
}

function allowsAnonymous({ security }: Operation): boolean {
  return security.length === 0 || security.some(({ schemes }) => schemes.length === 0);
}

/** One challenge per alternative, as RFC 9110 requires; its further schemes are listed in `and`. */
export function challenges(security: readonly Alternative[]): string {
  const asking = security.filter(({ schemes }) => schemes.length > 0);
  // Challenges for console sessions are left out if a key works too, since other programs cannot
  // get a session.
  const texts = (asking.some(isForPrograms) ? asking.filter(isForPrograms) : asking).map(
    ({ schemes }) => {
      const main = schemes.find(({ credential }) => credential === 'key') ?? schemes[0];
      const others = schemes.filter((scheme) => scheme !== main);
      const challenged = main === undefined ? 'ApiKey realm="ringback"' : challenge(main);
      const and = others.map(({ carrier }) => carrierName(carrier)).join(' ');
      return and === '' ? challenged : `${challenged}, and="${and}"`;
    },
  );
  return texts.length === 0 ? 'ApiKey realm="ringback"' : texts.join(', ');
}

function isForPrograms({ schemes }: Alternative): boolean {
  return schemes.every(({ credential }) => credential !== 'session' && credential !== 'portal');
}

/** Subscribe and unsubscribe of a foreign contract declare no scope, so it is chosen here. */
export function scopeOf({ scope, role }: Operation): Scope | undefined {
  return scope ?? (role.kind === 'managed' ? undefined : 'subscribe');
}

const unauthorizedDetail =
  'The request needs a valid API key. The WWW-Authenticate header says where to send it.';

interface Identified extends Known {
  usesCookie: boolean;
}

/** A session comes before a key in a cookie, which a site of the same domain may have planted. */
function isSignedIn({ session }: Identified): boolean {
  return session !== undefined;
}

/** A security alternative: every credential that it requires. */
interface SecurityRequirement {
  keys: readonly Scheme[];
  appIds: readonly Scheme[];
  usesCookie: boolean;
}

function requirementOf({ schemes }: Alternative): SecurityRequirement {
  return {
    keys: schemes.filter(({ credential }) => credential !== 'app_id'),
    appIds: schemes.filter(({ credential }) => credential === 'app_id'),
    usesCookie: schemes.some(({ carrier }) => carrier.in === 'cookie'),
  };
}

/** The credentials presented for an alternative. */
interface PresentedCredentials {
  requirement: SecurityRequirement;
  /** One per scheme. */
  credentials: readonly string[];
}

/** Undefined if a credential is missing, which is the case for most alternatives. */
function credentialsFor(
  requirement: SecurityRequirement,
  head: RawHead,
): PresentedCredentials | undefined {
  const credentials: string[] = [];
  for (const scheme of requirement.keys) {
    const credential = credentialIn(scheme, head);
    if (credential === undefined) return undefined;
    credentials.push(credential);
  }
  return credentials.length === 0 ? undefined : { requirement, credentials };
}

/**
 * The key for which all schemes hold; several keys must belong to one app. Stops at the first that
 * does not hold.
 */
function identifyBy(
  { requirement, credentials }: PresentedCredentials,
  head: RawHead,
  identifier: Deps['identifier'],
): MaybePromise<Identified | undefined> {
  const { keys, appIds, usesCookie } = requirement;
  const from = (at: number, first: Known | undefined): MaybePromise<Known | undefined> => {
    const [scheme, credential] = [keys[at], credentials[at]];
    if (scheme === undefined || credential === undefined) return first;
    return whenReady(find(scheme, credential, { head, identifier }), (known) => {
      if (known === undefined) return undefined;
      if (first !== undefined && first.key.appNo !== known.key.appNo) return undefined;
      return from(at + 1, first ?? known);
    });
  };
  return whenReady(from(0, undefined), (identified) => {
    if (identified === undefined) return undefined;
    const appId = withPrefix('app', identified.key.appId);
    if (!appIds.every((scheme) => credentialIn(scheme, head) === appId)) return undefined;
    return { ...identified, usesCookie };
  });
}

function isIdentified(identified: Identified | undefined): identified is Identified {
  return identified !== undefined;
}

function find(
  { credential }: Scheme,
  presented: string,
  { head, identifier }: { head: RawHead; identifier: Deps['identifier'] },
): MaybePromise<Known | undefined> {
  if (credential === 'session' || credential === 'portal') {
    return whenReady(
      identifier.identifySession(presented, credential === 'portal' ? 'portal' : 'console'),
      (found) => found && { key: found.key, session: { ...found.session, token: presented } },
    );
  }
  return whenReady(
    identifier.identify(presented, head.keyOf(presented)),
    (key) => key && { key, session: undefined },
  );
}

/** The credential in the carrier; undefined if it is empty, missing or repeated. */
function credentialIn({ carrier }: Scheme, head: RawHead): string | undefined {
  return valueIn(carrier, head) || undefined;
}

function valueIn(carrier: Carrier, head: RawHead): string | undefined {
  switch (carrier.in) {
    case 'header':
      return only(head.headerLines(carrier.name))?.trim();
    case 'query':
      return named(head.query, carrier.name);
    case 'cookie':
      return named(head.cookies, carrier.name);
    case 'bearer':
      return authorization(head, 'bearer');
    case 'basic':
      return passwordOf(authorization(head, 'basic'));
    case 'nowhere':
      return undefined;
  }
}

function only<T>(all: readonly T[]): T | undefined {
  return all.length === 1 ? all[0] : undefined;
}

function named(pairs: readonly (readonly [string, string])[], name: string): string | undefined {
  return pairs.length === 0 ? undefined : only(pairs.filter(([each]) => each === name))?.[1];
}

function authorization(head: RawHead, scheme: string): string {
  const line = only(head.headerLines('authorization')) ?? '';
  const space = line.indexOf(' ');
  return line.slice(0, space).toLowerCase() === scheme ? line.slice(space + 1).trim() : '';
}

function passwordOf(encoded: string): string {
  const decoded = Buffer.from(encoded, 'base64').toString();
  const colon = decoded.indexOf(':');
  return colon < 0 ? '' : decoded.slice(colon + 1);
}

function challenge({ carrier }: Scheme): string {
  if (carrier.in === 'bearer') return 'Bearer realm="ringback"';
  if (carrier.in === 'basic') return 'Basic realm="ringback"';
  if (carrier.in === 'nowhere') return 'ApiKey realm="ringback"';
  return `ApiKey realm="ringback", in="${carrier.in}", name="${carrierName(carrier)}"`;
}

/** Safe for a quoted string: a document may use any name for a parameter. */
function carrierName(carrier: Carrier): string {
  if (!('name' in carrier)) return carrier.in;
  return carrier.name.replaceAll(/[^!#-[\]-~]/gu, (char) =>
    encodeURIComponent(char.toWellFormed()),
  );
}

// Identifies scrapers. Metrics matter most when the store is down, but then no key can be looked
// up. So a key that was valid here recently stays valid for a while, for metrics only.

export function createScrapeIdentifier(
  identifier: Deps['identifier'],
  world: Pick<World, 'elapsedMs'>,
): Deps['identifier'] {
  const known = new Map<string, { key: Key; untilMs: number }>();
  const note = (hash: string, key: Key | undefined): void => {
    known.delete(hash);
    if (key?.scopes.includes('operator') !== true) return;
    known.set(hash, { key, untilMs: world.elapsedMs() + limits.scrapeKeyMs });
    const [oldest] = known.keys();
    if (known.size > limits.scrapeKeysMax && oldest !== undefined) known.delete(oldest);
  };
  return {
    identify: async (presented) => {
      const hash = Buffer.from(hashKey(presented)).toString('hex');
      try {
        const key = await identifier.identify(presented);
        note(hash, key);
        return key;
      } catch (error) {
        const before = known.get(hash);
        if (before === undefined || world.elapsedMs() >= before.untilMs) throw error;
        return before.key;
      }
    },
    identifySession: async (token, of) => identifier.identifySession(token, of),
  };
}

// Cross-site request forgery: browsers send cookies on their own, so a foreign page could use a key
// in one. For requests that change something, the browser must state that they come from our own
// origin.

/**
 * Why the request is refused, or undefined when it may pass (docs/openapi-semantics.md rule 26).
 */
export function crossOriginFault(
  { method, head }: { method: string; head: RawHead },
  publicOrigin: string,
): string | undefined {
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return undefined;
  const site = head.header.get('sec-fetch-site');
  const origin = head.header.get('origin');
  if (site !== undefined) {
    if (site !== 'same-origin' && site !== 'none') {
      return `Sec-Fetch-Site is ${JSON.stringify(site)}, expected same-origin or none`;
    }
  } else if (origin !== undefined && origin !== publicOrigin) {
    return `Origin is ${JSON.stringify(origin)}, expected ${JSON.stringify(publicOrigin)}`;
  }
  return bodyFault(head);
}

function bodyFault({ header, hasBody }: RawHead): string | undefined {
  if (!hasBody) return undefined;
  const type = readMediaType(header.get('content-type'));
  if (type !== undefined && isJson(type.mediaType)) return undefined;
  return 'the body is not JSON, expected Content-Type application/json';
}
