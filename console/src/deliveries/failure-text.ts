// Explains why a delivery failed, by core/domain/failures.ts or by the message of the attempt, which is
// more specific. Pure.
import { explain, failures, type Failure } from '../../../src/core/domain/failures.ts';
import type {
  Attempt,
  GetDeliveryAnswer as DeliveryWithAttempts,
} from '../../../src/client/contract/delivery.ts';

type Failed = Pick<Attempt, 'error' | 'status' | 'message'>;

/** What happened: `hooks.example.com refused the connection.` */
export function failureSentence({ error, status, message }: Failed): string {
  return ended(message ?? explain({ error, status })?.happened ?? 'The attempt failed');
}

/** Undefined if nothing has failed. */
export function failureOf(delivery: DeliveryWithAttempts): Failure | undefined {
  const { state, error, status, attempts } = delivery;
  if (state === 'delivered') return undefined;
  const last = attempts.at(-1);
  if (state === 'cancelled') return explain({ error: hasLeft(last) ? 'gone' : 'cancelled' });
  const failure = error === undefined ? undefined : explain({ error, status });
  if (failure === undefined) return undefined;
  // The attempt message names the host and the cause; the catalogue cannot.
  const own = last?.error === error ? last?.message : undefined;
  const happened = own === undefined ? failure.happened : ended(own);
  const isGivenUp = state === 'dead' && error !== 'expired';
  return { ...failure, happened, operator: isGivenUp ? afterwards(failure) : failure.operator };
}

/** The advice for an attempt may rely on the next one. A dead delivery has no next attempt. */
function afterwards({ operator }: Failure): string {
  const again = failures.exhausted.operator;
  return operator.startsWith('No action') ? again : `${operator} ${again}`;
}

/** A response without an error that was no delivery: the receiver unsubscribed. */
function hasLeft(last: Attempt | undefined): boolean {
  return last !== undefined && last.error === undefined;
}

function ended(sentence: string): string {
  return /[.!?]$/u.test(sentence) ? sentence : `${sentence}.`;
}
