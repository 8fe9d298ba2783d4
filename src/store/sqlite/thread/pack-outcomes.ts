// Packs outcomes for the write thread, sent with edits or with a claim, and their results.
import type { Header } from '../../../core/domain/attempt.ts';
import type { SettleReply } from '../../port/transport-protocol.ts';
import type { AttemptRecord, Settlement } from '../../port/delivery-verbs.ts';
import type { Packing, Unpacking } from './flat-codec.ts';

export function packSettlements(to: Packing, settlements: readonly Settlement[]): void {
  to.list.push(settlements.length);
  for (const { event, n, lease, outcome, attempt } of settlements) {
    const isDelivered = outcome.kind === 'delivered';
    to.list.push(event, n, lease, isDelivered ? undefined : outcome, attempt !== undefined);
    if (attempt !== undefined) packAttempt(to, attempt);
  }
}

/** Members in the order in which the other side packs them, here and below. */
export function unpackSettlements(from: Unpacking): Settlement[] {
  return from.nextFew((): Settlement => ({
    event: from.next(),
    n: from.next(),
    lease: from.next(),
    outcome: from.next<Settlement['outcome'] | undefined>() ?? { kind: 'delivered' },
    attempt: from.next<boolean>() ? unpackAttempt(from) : undefined,
  }));
}

function packAttempt(to: Packing, attempt: AttemptRecord): void {
  const { node, startedMs, tookMs, status, error, message, warning, request, response } = attempt;
  to.list.push(node, startedMs, tookMs, status, error, message, warning);
  to.list.push(request.method, request.url, response !== undefined);
  if (response === undefined) return;
  to.list.push(response.cut, response.headers.length);
  for (const [name, value] of response.headers) to.list.push(name, value);
  to.addBytes(response.body);
}

function unpackAttempt(from: Unpacking): AttemptRecord {
  return {
    node: from.next(),
    startedMs: from.next(),
    tookMs: from.next(),
    status: from.next(),
    error: from.next(),
    message: from.next(),
    warning: from.next(),
    request: { method: from.next(), url: from.next() },
    response: from.next<boolean>() ? unpackResponse(from) : undefined,
  };
}

function unpackResponse(from: Unpacking): AttemptRecord['response'] {
  return {
    cut: from.next(),
    headers: from.nextFew((): Header => [from.next(), from.next()]),
    body: from.nextBytes(),
  };
}

/**
 * A settled outcome, as nearly all are, is packed as the concurrency of its lane; any other reply
 * as an object.
 */
export function packSettled(to: Packing, replies: readonly SettleReply[]): void {
  to.list.push(replies.length);
  for (const reply of replies) {
    const settled =
      reply.kind === 'done' && reply.output.kind === 'settled' ? reply.output : undefined;
    to.list.push(settled === undefined ? reply : settled.concurrency);
  }
}

export function unpackSettled(from: Unpacking): SettleReply[] {
  return from.nextFew((): SettleReply => {
    const said = from.next<SettleReply | number | undefined>();
    if (typeof said === 'object') return said;
    const output = said === undefined ? {} : { concurrency: said };
    return { kind: 'done', output: { kind: 'settled', ...output } };
  });
}
