// The catalogue of failure explanations: for each way in which a callback can fail, what happened
// and what to do about it. docs/failures.md is generated from it, and the console bundles it, so
// nothing here may depend on Node.
import { attemptErrors, type AttemptError } from './attempt.ts';

export interface Failure {
  title: string;
  /** What happened. */
  happened: string;
  /** What the operator of the receiver can do. */
  receiver: string;
  /** What the operator of Ringback, or the owner of the subscription, can do. */
  operator: string;
}

/** Why a delivery ended without being delivered. */
export const endings = ['exhausted', 'expired', 'gone', 'cancelled'] as const;
export type Ending = (typeof endings)[number];

const retried = 'Nothing: it is tried again by itself.';
const replay = 'When the receiver works, send it again: retry the delivery, or start a replay.';

/** By the name of the error, or by how the delivery ended. */
export const failures: Readonly<Record<AttemptError | Ending, Failure>> = {
  dns: {
    title: 'The host name has no address',
    happened:
      'The host name of the callback URL does not exist, or could not be looked up in time.',
    receiver: 'Check that the name has an A or AAAA record, and that its name servers answer.',
    operator:
      'Look for a typo in the callback URL. If many hosts fail, check the DNS of this machine.',
  },
  refused: {
    title: 'The connection was refused',
    happened:
      'Nothing listens at the host and port of the callback URL, or the host cannot be reached.',
    receiver: 'Start the server, check its port, and let it be reached through the firewall.',
    operator:
      'Check the port in the callback URL, and that this machine may connect to the outside.',
  },
  tls: {
    title: 'The TLS certificate cannot be trusted',
    happened:
      'No safe connection came about: the certificate has expired, is made out to another name, lacks ' +
      'its chain or has an unknown issuer, or the server speaks no TLS 1.2 or 1.3.',
    receiver:
      'Renew the certificate and serve its whole chain. The message says what is wrong with it.',
    operator:
      'Nothing can be switched off here. If all hosts fail, check the clock of this machine.',
  },
  timeout: {
    title: 'The receiver took too long',
    happened:
      'No connection came about, or no answer was complete, in the time that an attempt may take ' +
      '(`RINGBACK_TIMEOUT`, 15 seconds by default).',
    receiver:
      'Answer first with 2xx and do the work afterwards, for instance from a queue of your own.',
    operator:
      'A firewall that drops packets looks like this, too. A longer `RINGBACK_TIMEOUT` may help.',
  },
  reset: {
    title: 'The connection was cut',
    happened: 'The receiver closed the connection before its answer was complete.',
    receiver:
      'Look for a crash, a restart, or a proxy or load balancer that gives up early. The request may ' +
      'have been handled: `webhook-id` tells a repetition.',
    operator: retried,
  },
  too_large: {
    title: 'The answer is too large',
    happened: 'The headers of the answer have more than 16 KiB or 512 lines.',
    receiver: 'Send fewer and shorter headers; cookies are not needed.',
    operator:
      'Ask whoever runs the receiver. The body does not matter: what is too long of it is left out.',
  },
  redirect: {
    title: 'The receiver wants to redirect',
    happened: 'The answer was a redirect (3xx). Redirects are never followed.',
    receiver:
      'Answer at the address that was subscribed, without a detour to https, a slash or a login.',
    operator: 'Change the target of the subscription to the address where it really is.',
  },
  blocked: {
    title: 'The address is not allowed',
    happened:
      'The callback URL leads to an address that Ringback must not reach: private, loopback or reserved.',
    receiver: 'Use an address that can be reached from the public internet.',
    operator: 'If it is meant to be reached, add its network to `RINGBACK_ALLOW_TARGETS`.',
  },
  protocol: {
    title: 'The answer is not HTTP',
    happened: 'What came back cannot be read as an answer in HTTP/1.1.',
    receiver: 'Check that the port is one for HTTP, and that no proxy sends malformed headers.',
    operator:
      'Check scheme and port of the callback URL: http on a port for https may look like this.',
  },
  status: {
    title: 'The receiver answered with an error',
    happened: 'The answer came, but its status is no success: any 2xx is one.',
    receiver: 'Look into the log of the receiver at the time of the attempt, by its `webhook-id`.',
    operator: 'Read the body of the answer: it often says why.',
  },
  exhausted: {
    title: 'All attempts failed',
    happened: 'The delivery was tried as often as the schedule says, and is dead now. It is kept.',
    receiver: 'Mend what the last attempt shows.',
    operator: replay,
  },
  expired: {
    title: 'It waited too long',
    happened:
      'The delivery still waited when its retention was over: the subscription was paused, or its ' +
      'receiver failed all the time.',
    receiver: 'Nothing: the event was not sent to you any more.',
    operator:
      'Resume paused subscriptions in time. It can be sent again until it is deleted, soon after.',
  },
  gone: {
    title: 'The receiver has unsubscribed',
    happened:
      'The receiver answered that it wants no more (410 Gone), so the subscription has ended.',
    receiver:
      'If that was a mistake, subscribe again, and answer 404 or 503 to what is missing for now.',
    operator: 'Nothing: an ended subscription cannot be brought back.',
  },
  cancelled: {
    title: 'The subscription ended first',
    happened: 'The subscription was ended while this delivery was waiting, so it was not sent.',
    receiver: 'Nothing: no more is coming.',
    operator: 'Subscribe again if events are still wanted; what was cancelled is not sent then.',
  },
};

/** By status: common ones first, then whole classes. */
export const statusFailures: Readonly<Record<string, Failure>> = {
  '400': {
    title: '400: the receiver cannot read the request',
    happened: 'The receiver takes the request for malformed.',
    receiver: 'Check what your code expects of the body: it is JSON, exactly as it was published.',
    operator: 'Compare the payload of the event with what the receiver expects.',
  },
  '401': {
    title: '401: the receiver wants credentials',
    happened: 'The receiver does not know who calls.',
    receiver: 'Let callbacks in without a login and check `webhook-signature` instead.',
    operator: 'If the URL holds a token, check that it is still valid.',
  },
  '403': {
    title: '403: the receiver does not let us in',
    happened: 'The receiver, or a firewall before it, refuses the request.',
    receiver:
      'Check the secret with which signatures are verified, the clock, and rules of a web firewall.',
    operator:
      'If the secret was rotated, give the receiver the new one before the overlap is over.',
  },
  '404': {
    title: '404: there is nothing at this URL',
    happened: 'The receiver is there, but has nothing at this path.',
    receiver: 'Check the path of the route, and that the version which has it is deployed.',
    operator: 'Look for a typo in the callback URL, and change the target of the subscription.',
  },
  '405': {
    title: '405: the receiver does not take POST',
    happened: 'There is something at this URL, but it does not take the method of the callback.',
    receiver: 'Accept the method at this path. A missing or additional slash may lead elsewhere.',
    operator: 'Check that the callback URL is the one for webhooks, not the one of a web page.',
  },
  '410': {
    title: '410: the receiver wants no more',
    happened: failures.gone.happened,
    receiver: failures.gone.receiver,
    operator: failures.gone.operator,
  },
  '413': {
    title: '413: the payload is too large for the receiver',
    happened: 'The receiver, or a proxy before it, takes no body of this size.',
    receiver: 'Raise the limit of the server and of the proxy: payloads have at most 1 MiB.',
    operator: 'Publish less in the payload, for instance an id by which the rest can be fetched.',
  },
  '415': {
    title: '415: the receiver does not take this type',
    happened: 'The receiver does not take the media type of the callback.',
    receiver:
      'Accept the `Content-Type` that is sent: `application/json`, unless the contract says else.',
    operator: 'Check which media type the contract declares for this callback.',
  },
  '429': {
    title: '429: the receiver gets too much',
    happened: 'The receiver asks for fewer requests. `Retry-After` is kept to.',
    receiver: 'Raise the limit for callbacks, or say in `Retry-After` when to come again.',
    operator: 'Publish more slowly, and give a replay a lower rate.',
  },
  '500': {
    title: '500: the receiver has failed',
    happened: 'Something went wrong in the code of the receiver.',
    receiver: 'Look for the exception in your log at the time of the attempt, by its `webhook-id`.',
    operator: retried,
  },
  '502': {
    title: '502: the proxy got no good answer',
    happened: 'A proxy is there, but the server behind it crashed or answered nonsense.',
    receiver:
      'Check that the server behind the proxy runs, and at the address that the proxy knows.',
    operator: retried,
  },
  '503': {
    title: '503: the receiver is not available',
    happened: 'The receiver is overloaded, starting, or in maintenance.',
    receiver: 'Wait for it or add capacity; `Retry-After` tells us when to come again.',
    operator: retried,
  },
  '504': {
    title: '504: the server behind the proxy took too long',
    happened: 'A proxy is there, but the server behind it did not answer in time.',
    receiver: 'Answer first with 2xx and do the work afterwards.',
    operator: retried,
  },
  '3xx': failures.redirect,
  '4xx': {
    title: 'The receiver refuses the request',
    happened: 'The receiver says that the request is wrong (4xx).',
    receiver: 'Look up in your log why it was refused, by its `webhook-id`.',
    operator: 'Check the callback URL and the payload. The body of the answer often says more.',
  },
  '5xx': {
    title: 'The receiver has failed',
    happened: 'The receiver, or a proxy before it, failed (5xx).',
    receiver: 'Look for the failure in your log at the time of the attempt, by its `webhook-id`.',
    operator: retried,
  },
};

export interface Failing {
  /** The error's name, or how the delivery ended. */
  error?: string | undefined;
  status?: number | undefined;
}

/** Explains an attempt or a delivery; undefined when no failure is known. */
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
