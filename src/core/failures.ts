// The catalogue of failure sentences: for each way in which a callback can fail, what happened and what
// to do about it. docs/failures.md is made from it, and the console shows it: so nothing of Node here.
import { attemptErrors, type AttemptError } from './attempt.ts';

export interface Failure {
  title: string;
  /** What happened. */
  happened: string;
  /** What whoever runs the receiver can do. */
  receiver: string;
  /** What whoever runs Ringback, or owns the subscription, can do. */
  operator: string;
}

/** Why a delivery ended without being delivered. */
export const endings = ['exhausted', 'expired', 'gone', 'cancelled'] as const;
export type Ending = (typeof endings)[number];

const retried = 'None: it is retried automatically.';
const replay = 'When the receiver works again, resend it: retry the delivery, or start a replay.';

/** By the name of the error, or by how the delivery ended. */
export const failures: Readonly<Record<AttemptError | Ending, Failure>> = {
  dns: {
    title: 'The host name has no address',
    happened: 'The host name of the callback URL does not exist, or could not be resolved in time.',
    receiver: 'Check that the name has an A or AAAA record, and that its name servers respond.',
    operator: 'Check the callback URL for typos. If many hosts fail, check DNS on this machine.',
  },
  refused: {
    title: 'The connection was refused',
    happened:
      'Nothing is listening on the host and port of the callback URL, or the host is ' +
      'unreachable.',
    receiver: 'Start the server, check its port, and allow the connection through the firewall.',
    operator:
      'Check the port in the callback URL, and that this machine is allowed to connect to ' + 'it.',
  },
  tls: {
    title: 'The TLS certificate is not trusted',
    happened:
      'The TLS handshake failed: the certificate has expired, is for another name, is ' +
      'missing its chain or has an unknown issuer, or the server supports neither TLS 1.2 ' +
      'nor 1.3.',
    receiver:
      'Renew the certificate and serve its full chain. The message says what is wrong with ' +
      'it.',
    operator:
      'Certificate checks cannot be disabled. If all hosts fail, check the clock of this ' +
      'machine.',
  },
  timeout: {
    title: 'The receiver took too long',
    happened:
      'The connection was not established, or the response not complete, within the timeout ' +
      'of an attempt (`RINGBACK_TIMEOUT`, 15 seconds by default).',
    receiver:
      'Respond with 2xx first and do the work afterwards, for example from a queue of your ' +
      'own.',
    operator: 'A firewall that drops packets looks the same. A longer `RINGBACK_TIMEOUT` may help.',
  },
  reset: {
    title: 'The connection was closed early',
    happened: 'The receiver closed the connection before its response was complete.',
    receiver:
      'Look for a crash, a restart, or a proxy or load balancer with a short timeout. The ' +
      'request may have been processed: use `webhook-id` to recognize duplicates.',
    operator: retried,
  },
  too_large: {
    title: 'The response is too large',
    happened: 'The response headers are larger than 16 KiB or have more than 512 lines.',
    receiver: 'Send fewer and shorter headers; cookies are not needed.',
    operator:
      'Contact the operator of the receiver. The body is not the cause: a long body is ' +
      'truncated.',
  },
  redirect: {
    title: 'The receiver redirects',
    happened: 'The response was a redirect (3xx). Redirects are never followed.',
    receiver:
      'Respond at the subscribed URL itself, without redirecting to HTTPS, to another path ' +
      'or to a login.',
    operator: 'Change the target of the subscription to the final URL.',
  },
  blocked: {
    title: 'The address is not allowed',
    happened:
      'The callback URL resolves to an address that Ringback must not reach: private, ' +
      'loopback or reserved.',
    receiver: 'Use an address that is reachable from the public internet.',
    operator: 'If it is intended, add its network to `RINGBACK_ALLOW_TARGETS`.',
  },
  protocol: {
    title: 'The response is not HTTP',
    happened: 'The response is not valid HTTP/1.1.',
    receiver: 'Check that the port serves HTTP, and that no proxy sends malformed headers.',
    operator:
      'Check the scheme and port of the callback URL: http on an https port can look like ' +
      'this.',
  },
  status: {
    title: 'The receiver responded with an error',
    happened: 'The receiver responded, but not with a 2xx status.',
    receiver: 'Check the receiver’s log at the time of the attempt, by `webhook-id`.',
    operator: 'Read the response body: it often says why.',
  },
  exhausted: {
    title: 'All attempts failed',
    happened: 'The retry schedule is used up, so the delivery is dead-lettered. It is kept.',
    receiver: 'Fix what the last attempt shows.',
    operator: replay,
  },
  expired: {
    title: 'The delivery expired',
    happened:
      'The delivery was still pending when its retention ended: the subscription was ' +
      'paused, or its receiver kept failing.',
    receiver: 'None: the event is no longer sent.',
    operator:
      'Resume paused subscriptions in time. The delivery can be sent again until it is ' +
      'deleted shortly after.',
  },
  gone: {
    title: 'The receiver has unsubscribed',
    happened:
      'The receiver responded with 410 Gone, which unsubscribes it, so the subscription has ' +
      'ended.',
    receiver:
      'If that was a mistake, subscribe again, and respond with 404 or 503 while a route is ' +
      'missing.',
    operator: 'None: an ended subscription cannot be restored.',
  },
  cancelled: {
    title: 'The subscription had ended',
    happened: 'The subscription ended while this delivery was pending, so it was not sent.',
    receiver: 'None: nothing more is sent.',
    operator: 'Subscribe again if events are still wanted; cancelled deliveries are not sent then.',
  },
};

/** By status: the common ones, then whole classes. */
export const statusFailures: Readonly<Record<string, Failure>> = {
  '400': {
    title: '400: the receiver cannot read the request',
    happened: 'The receiver considers the request malformed.',
    receiver: 'Check what your code expects of the body: it is JSON, exactly as published.',
    operator: 'Compare the payload of the event with what the receiver expects.',
  },
  '401': {
    title: '401: the receiver requires credentials',
    happened: 'The receiver does not accept the request without valid credentials.',
    receiver: 'Accept callbacks without a login and verify `webhook-signature` instead.',
    operator: 'If the URL contains a token, check that it is still valid.',
  },
  '403': {
    title: '403: the receiver denies access',
    happened: 'The receiver, or a firewall in front of it, rejects the request.',
    receiver:
      'Check the secret used to verify signatures, the clock, and the rules of a web ' +
      'application firewall.',
    operator: 'If the secret was rotated, deploy the new one before the overlap ends.',
  },
  '404': {
    title: '404: nothing at this URL',
    happened: 'The receiver is running, but has nothing at this path.',
    receiver: 'Check the path of the route, and that the version that has it is deployed.',
    operator: 'Check the callback URL for typos, and change the target of the subscription.',
  },
  '405': {
    title: '405: the receiver does not accept POST',
    happened: 'The URL exists, but does not accept the method of the callback.',
    receiver:
      'Accept the method at this path. A missing or extra trailing slash can select another ' +
      'route.',
    operator: 'Check that the callback URL is a webhook endpoint and not a web page.',
  },
  '410': {
    title: '410: the receiver unsubscribed',
    happened: failures.gone.happened,
    receiver: failures.gone.receiver,
    operator: failures.gone.operator,
  },
  '413': {
    title: '413: the payload is too large for the receiver',
    happened: 'The receiver, or a proxy in front of it, does not accept a body of this size.',
    receiver:
      'Raise the body size limit of the server and of the proxy: payloads are at most 1 ' + 'MiB.',
    operator: 'Publish a smaller payload, for example an id with which the rest can be fetched.',
  },
  '415': {
    title: '415: the receiver does not accept this media type',
    happened: 'The receiver does not accept the media type of the callback.',
    receiver:
      'Accept the `Content-Type` that is sent: `application/json`, unless the contract ' +
      'declares another.',
    operator: 'Check which media type the contract declares for this callback.',
  },
  '429': {
    title: '429: the receiver is rate limiting',
    happened: 'The receiver asks for fewer requests. Ringback honors `Retry-After`.',
    receiver:
      'Raise the rate limit for callbacks, or set `Retry-After` to when the next attempt is ' +
      'welcome.',
    operator: 'Publish more slowly, or run replays at a lower rate.',
  },
  '500': {
    title: '500: the receiver failed',
    happened: 'The receiver’s code failed.',
    receiver: 'Find the exception in your log at the time of the attempt, by `webhook-id`.',
    operator: retried,
  },
  '502': {
    title: '502: bad gateway',
    happened: 'A proxy responded, but the server behind it crashed or sent an invalid response.',
    receiver:
      'Check that the server behind the proxy is running, at the address that the proxy ' + 'uses.',
    operator: retried,
  },
  '503': {
    title: '503: the receiver is unavailable',
    happened: 'The receiver is overloaded, starting, or in maintenance.',
    receiver: 'Wait or add capacity; set `Retry-After` to when the next attempt is welcome.',
    operator: retried,
  },
  '504': {
    title: '504: gateway timeout',
    happened: 'A proxy responded, but the server behind it did not respond in time.',
    receiver: 'Respond with 2xx first and do the work afterwards.',
    operator: retried,
  },
  '3xx': failures.redirect,
  '4xx': {
    title: 'The receiver rejects the request',
    happened: 'The receiver considers the request wrong (4xx).',
    receiver: 'Look up in your log why it was rejected, by `webhook-id`.',
    operator: 'Check the callback URL and the payload. The response body often says more.',
  },
  '5xx': {
    title: 'The receiver has failed',
    happened: 'The receiver, or a proxy in front of it, failed (5xx).',
    receiver: 'Find the failure in your log at the time of the attempt, by `webhook-id`.',
    operator: retried,
  },
};

export interface Failing {
  /** The error's name, or how the delivery ended. */
  error?: string | undefined;
  status?: number | undefined;
}

/** What to say about an attempt or a delivery; undefined when nothing is known to have failed. */
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
