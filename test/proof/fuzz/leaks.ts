// Leaks: no response may contain a secret, or data of another app.
import type { Operation } from './document.ts';
import { canary } from './draw.ts';
import { idsIn, type Pool } from './pool.ts';
import { bytesOf, isOfSession, type FuzzRequest } from './request.ts';
import type { WireAnswer } from './wire.ts';

const secretShapes = /rbk_[0-9A-Za-z]{57}|whsec_[\w+/=]{24,}|whsk_[\w+/=]{24,}/;
/** Operations whose examples look like secrets. */
const documents = [
  'getOpenapiJson',
  'getOpenapiYaml',
  'getContract',
  'getContractReport',
  'getDocs',
  'listEventTypes',
];
/** Operations that show a secret to its owner. */
const showing = [
  'createKey',
  'rotateKey',
  'createApp',
  'subscribeOperation',
  'getSecret',
  'rotateSecret',
];

export function ofSecrets(
  request: FuzzRequest,
  operation: Operation | undefined,
  { status, body }: WireAnswer,
): string[] {
  const text = body.toString();
  if (documents.includes(request.operation.operationId) && !text.includes(canary)) return [];
  // If the addressed operation is unknown, the request is a wild variant of this one.
  const { operationId } = operation ?? request.operation;
  const isShowing = status < 300 && showing.includes(operationId);
  const found = secretIn(isShowing ? text.replaceAll(new RegExp(secretShapes, 'g'), '') : text);
  const isOwn =
    found !== undefined &&
    Buffer.from(bytesOf(request, '')).includes(found) &&
    found !== request.caller?.key;
  return found === undefined || isOwn
    ? []
    : [`I16: the answer holds ${found.slice(0, 9)}…: ${cut(text)}`];
}

/** Finds the canary or anything that looks like a secret. */
export function secretIn(text: string): string | undefined {
  return text.includes(canary) ? canary : secretShapes.exec(text)?.[0];
}

/** Operations that may name several apps: those for operators, signing in with any key, and documents. */
export const ofNobody = new Set([
  'listApps',
  'getApp',
  'editApp',
  'createApp',
  'signIn',
  'openPortal',
  ...documents,
]);

/** The audit trail of an operator names the apps that the operator has made. */
export function isAppOfOperator(
  { operation }: Pick<FuzzRequest, 'operation'>,
  id: string,
): boolean {
  return operation.operationId === 'listAuditEntries' && id.startsWith('app_');
}

/** No id of another app may appear, unless the request contained it. */
export function ofOwners(
  { pool }: { pool: Pool },
  request: FuzzRequest,
  { body }: WireAnswer,
): string[] {
  const { caller, operation } = request;
  if (caller === undefined || isOfSession(request) || ofNobody.has(operation.operationId))
    return [];
  const asked = Buffer.from(bytesOf(request, '')).toString('latin1');
  const own = [...idsIn(asked), ...idsIn(decoded(asked))];
  const foreign = idsIn(body.toString()).find((id) => {
    const owner = pool.ownerOf(id);
    if (caller.scopes.includes('operator') && isAppOfOperator(request, id)) return false;
    return owner !== undefined && owner !== caller.app && !own.includes(id);
  });
  return foreign === undefined ? [] : [`I17: the answer names ${foreign} of another app`];
}

function decoded(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_whole, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

const cutChars = 300;

export function cut(text: string): string {
  return text.length <= cutChars ? text : `${text.slice(0, cutChars)}…`;
}
