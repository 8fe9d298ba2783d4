// Explains why a request got no response: an error name from the list and a sentence for people.
// Sentences are made from error codes. System messages contain addresses and ports and must never
// be shown.
import type { SendResult } from '../../core/domain/attempt.ts';
import { AnswerTooLong, BadAnswer } from './answer-reader.ts';
import { ConnectionGone } from './connection.ts';
import { DialError } from './connect.ts';
import { BadRequest } from './request-bytes.ts';

export type Failure = Extract<SendResult, { kind: 'failed' }>;

/** Translates an exception. `host` is the one of the URL. */
export function explainFailure(error: unknown, host: string): Failure {
  if (error instanceof DialError) return explainDial(error.result, host);
  const code = codeOf(error);
  if (isLost(error)) {
    return failure('reset', `${host} closed the connection before its response was complete`);
  }
  if (error instanceof AnswerTooLong) {
    return failure(
      'too_large',
      `The response headers of ${host} are too large, expected at most 16 KiB and 512 lines`,
    );
  }
  if (code === 'ETIMEDOUT') return failure('timeout', `The connection to ${host} was lost`);
  if (error instanceof BadRequest) {
    return failure('protocol', `Cannot write the request to ${host}: ${error.message}`);
  }
  const why = error instanceof BadAnswer ? `: ${error.message}` : shown(code);
  return failure('protocol', `The response of ${host} is not valid HTTP/1.1${why}`);
}

export function failure(error: Failure['error'], message: string): Failure {
  return { kind: 'failed', error, message };
}

/** The connection was lost during the request, closed by the receiver or by the network. */
export function isLost(error: unknown): boolean {
  if (error instanceof ConnectionGone) return true;
  const code = codeOf(error);
  return code !== undefined && lostCodes.has(code);
}

/** This node ran out of a resource: not a failure of the receiver. */
export function isShortage(error: unknown): boolean {
  if (!(error instanceof DialError) || error.result.kind !== 'failed') return false;
  return shortageCodes.has(codeOf(error.result.cause) ?? '');
}

function explainDial(result: DialError['result'], host: string): Failure {
  switch (result.kind) {
    case 'refused':
    case 'blocked':
      return failure('blocked', result.message);
    case 'unresolved':
      return result.reason === 'missing'
        ? failure('dns', `The name ${host} has no address`)
        : failure('dns', `The name ${host} could not be resolved`);
    case 'failed':
      return explainNoConnection(result, host);
  }
}

function explainNoConnection(
  result: Extract<DialError['result'], { kind: 'failed' }>,
  host: string,
): Failure {
  const code = codeOf(result.cause);
  const late = result.reason === 'timeout' || result.reason === 'aborted' || code === 'ETIMEDOUT';
  if (late) return failure('timeout', `Could not connect to ${host} in time`);
  const lost = result.cause === undefined || isLost(result.cause);
  if (result.reason === 'tls') {
    if (lost) return failure('reset', `${host} closed the connection during the TLS handshake`);
    return failure('tls', explainTls(code, host));
  }
  if (lost) return failure('reset', `${host} closed the connection immediately`);
  if (code === 'ECONNREFUSED') return failure('refused', `${host} refused the connection`);
  return failure('refused', `${host} is unreachable${shown(code)}`);
}

function explainTls(code: string | undefined, host: string): string {
  const about = certificateFaults.get(code ?? '');
  if (about !== undefined) return `The TLS certificate of ${host} ${about}`;
  const answer = handshakeFaults.get(code ?? '');
  if (answer !== undefined) return `${host} ${answer}`;
  return `Could not establish a trusted TLS connection to ${host}${shown(code)}`;
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function shown(code: string | undefined): string {
  return code !== undefined && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? ` (${code})` : '';
}

const lostCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);
const shortageCodes: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRNOTAVAIL',
  'ENETDOWN',
]);

const certificateFaults: ReadonlyMap<string, string> = new Map([
  ['CERT_HAS_EXPIRED', 'has expired'],
  ['CERT_NOT_YET_VALID', 'is not valid yet'],
  ['CERT_REVOKED', 'was revoked'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'is self-signed'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'has a self-signed certificate in its chain'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another host name'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'is missing intermediate certificates'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'is missing intermediate certificates'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'is from an unknown issuer'],
]);

const tooOld = 'supports no accepted TLS version, expected 1.2 or 1.3';
const noTls = 'does not speak TLS on this port';
const handshakeFaults: ReadonlyMap<string, string> = new Map([
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', tooOld],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', tooOld],
  ['ERR_SSL_WRONG_VERSION_NUMBER', noTls],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', noTls],
  ['ERR_SSL_RECORD_LAYER_FAILURE', noTls],
]);
