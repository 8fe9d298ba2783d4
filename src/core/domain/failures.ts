// The failure catalogue: for each way in which a callback can fail, what happened and what to do about
// it. docs/failures.md is generated from it and the console shows it, so it must not import Node.
import { attemptErrors, type AttemptError } from './attempt.ts';

export interface Failure {
  title: string;
  /** What happened. */
  happened: string;
  /** What the owner of the receiver can do. */
  receiver: string;
  /** What the operator of Ringback or the owner of the subscription can do. */
  operator: string;
}

/** Why a delivery ended without being delivered. */
export const endings = ['exhausted', 'expired', 'gone', 'cancelled'] as const;
export type Ending = (typeof endings)[number];

const retried = 'No action needed: the delivery is retried automatically.';
const replay = 'Once the receiver works again, retry the delivery or start a replay.';

/** By the name of the error, or by how the delivery ended. */
export const failures: Readonly<Record<AttemptError | Ending, Failure>> = {
  dns: {
    title: 'DNS lookup failed',
    happened: 'The host name of the callback URL does not exist, or the lookup timed out.',
    receiver: 'Check that the name has an A or AAAA record and that its name servers respond.',
    operator:
      'Check the callback URL for a typo. If many hosts fail, check the DNS of the Ringback host.',
  },
  refused: {
    title: 'Connection refused',
    happened:
      'Nothing listens on the host and port of the callback URL, or the host is unreachable.',
    receiver: 'Start the server, check its port, and allow it in the firewall.',
    operator:
      'Check the port in the callback URL, and that the Ringback host may open outbound connections.',
  },
  tls: {
    title: 'TLS handshake failed',
    happened:
      'No trusted TLS connection could be established: the certificate has expired, is issued for ' +
      'another name, lacks its chain or has an unknown issuer, or the server does not support TLS 1.2 or 1.3.',
    receiver: 'Renew the certificate and serve the full chain. The error message names the cause.',
    operator:
      'Certificate checks cannot be turned off. If all hosts fail, check the clock of the Ringback host.',
  },
  timeout: {
    title: 'Timeout',
    happened:
      'The connection was not established, or the response was not complete, within the timeout of an ' +
      'attempt (`RINGBACK_TIMEOUT`, 15 seconds by default).',
    receiver: 'Respond with 2xx first and process the event afterwards, for instance from a queue.',
    operator:
      'A firewall that drops packets also causes timeouts. A longer `RINGBACK_TIMEOUT` may help.',
  },
  reset: {
    title: 'Connection reset',
    happened: 'The receiver closed the connection before its response was complete.',
    receiver:
      'Look for a crash, a restart, or a proxy or load balancer that gives up early. The request may ' +
      'have been processed: use `webhook-id` to detect duplicates.',
    operator: retried,
  },
  too_large: {
    title: 'Response headers too large',
    happened: 'The response headers exceed 16 KiB or 512 lines.',
    receiver: 'Send fewer and shorter headers. Cookies are not needed.',
    operator:
      'Contact the owner of the receiver. The size of the body does not matter: a long body is truncated.',
  },
  redirect: {
    title: 'Redirect response',
    happened:
      'The receiver responded with a redirect (3xx). Only a 307 or 308 that the contract declares for ' +
      'the callback is followed, at most three times.',
    receiver:
      'Respond at the subscribed URL directly, without a redirect to https, a trailing slash or a login.',
    operator: 'Change the callback URL of the subscription to the final address.',
  },
  blocked: {
    title: 'Address not allowed',
    happened:
      'The callback URL resolves to an address that Ringback must not reach: private, loopback or reserved.',
    receiver: 'Use an address that is reachable from the public internet.',
    operator: 'If the address is intended, add its network to `RINGBACK_ALLOW_TARGETS`.',
  },
  protocol: {
    title: 'Invalid HTTP response',
    happened: 'The response is not valid HTTP/1.1.',
    receiver: 'Check that the port serves HTTP, and that no proxy sends malformed headers.',
    operator:
      'Check the scheme and port of the callback URL: http on an https port may cause this error.',
  },
  status: {
    title: 'Error response',
    happened: 'The receiver responded, but not with a success status (2xx).',
    receiver: 'Search the receiver log for the `webhook-id` at the time of the attempt.',
    operator: 'Read the response body: it often contains the reason.',
  },
  exhausted: {
    title: 'Retries exhausted',
    happened: 'All attempts of the retry schedule failed. The delivery is dead, but still stored.',
    receiver: 'Fix the error of the last attempt.',
    operator: replay,
  },
  expired: {
    title: 'Delivery expired',
    happened:
      'The delivery was still pending at the end of its retention, because the subscription was paused ' +
      'or the receiver kept failing.',
    receiver: 'No action possible: the event is no longer sent.',
    operator:
      'Resume paused subscriptions in time. The delivery can be retried until it is deleted, soon after expiry.',
  },
  gone: {
    title: 'Receiver unsubscribed',
    happened: 'The receiver responded with 410 Gone, which ends the subscription.',
    receiver:
      'If this was a mistake, subscribe again, and respond with 404 or 503 while something is missing ' +
      'temporarily.',
    operator: 'No action possible: an ended subscription cannot be restored.',
  },
  cancelled: {
    title: 'Subscription ended',
    happened: 'The subscription ended while this delivery was pending, so it was not sent.',
    receiver: 'No action needed: no more deliveries are sent.',
    operator:
      'Subscribe again if events are still needed. Cancelled deliveries are not sent to the new subscription.',
  },
};

/** By status: common ones first, then whole classes. */
export const statusFailures: Readonly<Record<string, Failure>> = {
  '400': {
    title: '400: Bad request',
    happened: 'The receiver considers the request malformed.',
    receiver: 'Check what your code expects of the body: it is JSON, exactly as it was published.',
    operator: 'Compare the event payload with what the receiver expects.',
  },
  '401': {
    title: '401: Authentication required',
    happened: 'The receiver requires credentials that the request does not have.',
    receiver: 'Accept callbacks without a login and verify `webhook-signature` instead.',
    operator: 'If the URL contains a token, check that it is still valid.',
  },
  '403': {
    title: '403: Forbidden',
    happened: 'The receiver, or a firewall in front of it, rejected the request.',
    receiver:
      'Check the secret used to verify signatures, the clock, and web application firewall rules.',
    operator:
      'If the secret was rotated, configure the receiver with the new one before the overlap ends.',
  },
  '404': {
    title: '404: Not found',
    happened: 'The server is reachable, but has nothing at this path.',
    receiver: 'Check the path of the route, and that the version that has it is deployed.',
    operator: 'Check the callback URL for a typo, and change it on the subscription.',
  },
  '405': {
    title: '405: Method not allowed',
    happened: 'The receiver does not accept the method of the callback at this URL.',
    receiver: 'Accept the method at this path. Check for a missing or extra trailing slash.',
    operator: 'Check that the callback URL is a webhook endpoint and not a web page.',
  },
  '410': {
    title: '410: Gone',
    happened: failures.gone.happened,
    receiver: failures.gone.receiver,
    operator: failures.gone.operator,
  },
  '413': {
    title: '413: Payload too large',
    happened: 'The receiver, or a proxy in front of it, does not accept a body of this size.',
    receiver: 'Raise the body limit of the server and the proxy: payloads have up to 1 MiB.',
    operator: 'Publish a smaller payload, for instance an ID with which the rest can be fetched.',
  },
  '415': {
    title: '415: Unsupported media type',
    happened: 'The receiver does not accept the media type of the callback.',
    receiver:
      'Accept the `Content-Type` of the request: `application/json`, unless the contract declares another.',
    operator: 'Check which media type the contract declares for this callback.',
  },
  '429': {
    title: '429: Too many requests',
    happened: 'The receiver is rate limiting. Ringback honours `Retry-After`.',
    receiver: 'Raise the limit for callbacks, or set `Retry-After`.',
    operator:
      'Set a rate limit on the subscription, publish more slowly, or replay at a lower rate.',
  },
  '500': {
    title: '500: Internal server error',
    happened: 'The code of the receiver failed.',
    receiver: 'Find the exception in your log by the `webhook-id` and the time of the attempt.',
    operator: retried,
  },
  '502': {
    title: '502: Bad gateway',
    happened: 'A proxy responded, but the server behind it crashed or sent an invalid response.',
    receiver:
      'Check that the server behind the proxy is running, at the address configured in the proxy.',
    operator: retried,
  },
  '503': {
    title: '503: Service unavailable',
    happened: 'The receiver is overloaded, starting, or in maintenance.',
    receiver: 'Wait, or add capacity. Set `Retry-After` to control when Ringback tries again.',
    operator: retried,
  },
  '504': {
    title: '504: Gateway timeout',
    happened: 'A proxy responded, but the server behind it did not respond in time.',
    receiver: 'Respond with 2xx first and process the event afterwards.',
    operator: retried,
  },
  '3xx': failures.redirect,
  '4xx': {
    title: 'Request rejected',
    happened: 'The receiver rejected the request (4xx).',
    receiver: 'Find the reason in your log by the `webhook-id`.',
    operator: 'Check the callback URL and the payload. The response body often has more details.',
  },
  '5xx': {
    title: 'Server error',
    happened: 'The receiver, or a proxy in front of it, failed (5xx).',
    receiver: 'Find the failure in your log by the `webhook-id` and the time of the attempt.',
    operator: retried,
  },
};

export interface Failing {
  /** The error's name, or how the delivery ended. */
  error?: string | undefined;
  status?: number | undefined;
}

/** The failure of an attempt or a delivery; undefined if nothing is known to have failed. */
export function explain({ error, status }: Failing): Failure | undefined {
  const byStatus = status === undefined ? undefined : explainStatus(status);
  if (error === undefined || error === 'status') {
    return byStatus ?? (error === undefined ? undefined : failures.status);
  }
  const name = names.find((known) => known === error);
  return name === undefined ? byStatus : failures[name];
}

const names = [...attemptErrors, ...endings] as const;

function explainStatus(status: number): Failure | undefined {
  const text = String(status);
  return statusFailures[text] ?? statusFailures[`${text.charAt(0)}xx`];
}
