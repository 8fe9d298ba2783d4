// An operation as a request meets it, on either path: authenticate, read the call, answer or
// refuse.
import type { Operation } from '../../contract/model/contract.ts';
import { withPrefix, withoutPrefix } from '../../core/base/id.ts';
import { whenReady, type MaybePromise } from '../../core/base/maybe-promise.ts';
import type { Key } from '../../core/domain/key.ts';
import { Problem } from '../../core/errors/problem.ts';
import { redact } from '../../core/secrets/redact.ts';
import type { Identifier } from '../../engine/access/identify.ts';
import type { Context } from '../../engine/context.ts';
import type { Call, Handler, Reply } from '../request/call.ts';
import { problemReply, toProblem, type ProblemReply } from '../request/problem.ts';
import type { RawHead } from '../request/raw-request.ts';
import { logAction, note, subjectOf, type LoggedRequest } from '../request/request-log.ts';
import { routeOf } from '../request/route.ts';
import {
  authenticator,
  bodyBytesMaxOf,
  challenges,
  createScrapeIdentifier,
  type Deps,
} from './authenticate.ts';
import { readCall, type IncomingRequest, type CallContext } from './read-call.ts';

export interface Served {
  operation: Operation;
  /** Authenticates before the body is read. Throws synchronously if it can. */
  arrive(request: IncomingRequest, head: RawHead): MaybePromise<void>;
  answer(request: IncomingRequest): Promise<Reply>;
  /** The answer to a request that failed. */
  refuse(request: IncomingRequest, error: unknown): ProblemReply;
}

export interface ServedDeps {
  context: Context;
  identifier: Identifier;
  publicUrl: () => string;
}

/** Prepares what depends on the operation alone, before the first request. */
export function served(operation: Operation, handler: Handler, deps: ServedDeps): Served {
  const { context, publicUrl } = deps;
  const publicOrigin = createOriginOf(publicUrl);
  const identifier = identifierFor(operation, deps);
  const identify = authenticator(operation, { identifier, publicOrigin });
  const checkAppId = appIdCheck(operation);
  const { defaultApp } = context;
  // An anonymous subscriber belongs to the app "default"; other public operations belong to no app.
  const openApp = operation.role.kind === 'managed' ? undefined : defaultApp.id;
  const { pathOf } = routeOf(operation.path);
  const callContext: CallContext = { operation, pathOf, identify, publicOrigin, defaultApp };
  const did = logAction(operation);
  const bodyBytesMax = bodyBytesMaxOf(operation);
  const challenge = challenges(operation.security);
  return {
    operation,
    arrive: (request, head) => {
      note(request, { operation: operation.operationId });
      return whenReady(identify(head), (caller) => {
        if (caller !== undefined) noteCaller(request, caller.key);
        const appId = caller?.key.appId ?? openApp;
        if (appId !== undefined) checkAppId(head, appId);
        request.arrival = { head, caller };
      });
    },
    answer: async (request) => {
      const call = readCall(callContext, request);
      const answer = await handler(call);
      noteDeed(request, call, did);
      return answer;
    },
    refuse: (request, error) => {
      const problem = toProblem(error, bodyBytesMax);
      const reply = problemReply(problem, request, operation);
      if (problem.code === 'unauthorized') reply.headers['www-authenticate'] = challenge;
      return reply;
    },
  };
}

/** Caches the origin: the public URL changes only once, when the port is known. */
function createOriginOf(publicUrl: () => string): () => string {
  let [url, origin] = ['', ''];
  return () => {
    const now = publicUrl();
    if (now !== url) [url, origin] = [now, new URL(now).origin];
    return origin;
  };
}

function noteCaller(request: LoggedRequest, { appId, id }: Key): void {
  note(request, { app: withPrefix('app', appId), key: `rbk_${id}` });
}

/** Logs what a successful call was about, and what it has changed. */
function noteDeed(request: LoggedRequest, call: Call, did: string | undefined): void {
  const id = call.request.path.get('id');
  if (typeof id === 'string') note(request, subjectOf(redact(id))); // In a foreign contract it may be anything.
  if (did !== undefined) note(request, { did });
}

function identifierFor(
  { operationId }: Operation,
  { context, identifier }: Pick<ServedDeps, 'context' | 'identifier'>,
): Deps['identifier'] {
  switch (operationId) {
    case 'openStream':
      return onlooking(identifier);
    case 'getMetrics':
      return createScrapeIdentifier(identifier, context.world);
    default:
      return identifier;
  }
}

/**
 * A page reopens its stream by itself and keeps it while no one is there, so a stream must not
 * extend the session.
 */
function onlooking(identifier: Identifier): Deps['identifier'] {
  return {
    identify: (presented, read) => identifier.identify(presented, read),
    identifySession: async (token, of) => identifier.lookAtSession(token, of),
  };
}

// Refuses a request that names one app and carries the key of another. Otherwise an operation that
// takes no app id would ignore it and act on the wrong app.

/** `appId`: the app on whose behalf the request runs, without its prefix. */
type CheckAppId = (head: RawHead, appId: string) => void;

function appIdCheck(operation: Operation): CheckAppId {
  const carriers = appIdCarriers(operation);
  return (head, appId) => {
    for (const { name, sentIn, isDeclared } of carriers) {
      for (const sent of sentIn(head)) {
        if (sent === '' || sent === withPrefix('app', appId)) continue;
        // If the document does not declare the header, its value may be something else.
        if (!isDeclared && withoutPrefix('app', sent) === undefined) continue;
        throw wrongApp(name, sent);
      }
    }
  };
}

interface AppIdCarrier {
  name: string;
  sentIn: (head: RawHead) => readonly string[];
  isDeclared: boolean;
}

/**
 * All schemes of the document that carry an app id. X-APP-ID counts even if undeclared, unless the
 * operation has a parameter of that name with another meaning.
 */
function appIdCarriers({ schemes, parameters }: Operation): AppIdCarrier[] {
  const declared = schemes.flatMap(({ credential, carrier }): AppIdCarrier[] => {
    if (credential !== 'app_id' || !('name' in carrier)) return [];
    const { in: place, name } = carrier;
    return [{ name, sentIn: (head) => valuesIn(head, place, name), isDeclared: true }];
  });
  const isKnown = [...declared, ...parameters].some(
    ({ name }) => name.toLowerCase() === usualHeader.toLowerCase(),
  );
  if (isKnown) return declared;
  const sentIn = (head: RawHead): readonly string[] => valuesIn(head, 'header', usualHeader);
  return [...declared, { name: usualHeader, sentIn, isDeclared: false }];
}

const usualHeader = 'X-APP-ID';

function valuesIn(head: RawHead, place: 'header' | 'query' | 'cookie', name: string): string[] {
  if (place === 'header') return head.headerLines(name).map((line) => line.trim());
  const pairs = place === 'query' ? head.query : head.cookies;
  return pairs.filter(([each]) => each === name).map(([, value]) => value);
}

/** Does not reveal the key's app: the id that was sent may be a guess. */
function wrongApp(name: string, sent: string): Problem {
  const shown = JSON.stringify(redact(sent));
  const detail =
    `${name} is ${shown}, but the key belongs to another app. Send the app id of the key, ` +
    'or a key of that app';
  const message = `is ${shown}, expected the app id of the key`;
  return new Problem('wrong_app', detail, { faults: [{ field: name, message }] });
}
