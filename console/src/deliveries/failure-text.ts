// Why a delivery failed, in the words of the catalogue of failures, or of its own attempt where that says
// more. Pure.
import { explain, failures, type Failure } from '../../../src/core/failures.ts';
import type {
  Attempt,
  GetDeliveryAnswer as DeliveryWithAttempts,
} from '../../../src/client/contract/delivery.ts';

type Failed = Pick<Attempt, 'error' | 'status' | 'message'>;

/** What happened: `hooks.example.com refused the connection.` */
export function failureSentence({ error, status, message }: Failed): string {
  return ended(message ?? explain({ error, status })?.happened ?? 'It failed');
}

/** Undefined: nothing failed (yet). */
export function failureOf(delivery: DeliveryWithAttempts): Failure | undefined {
  const { state, error, status, attempts } = delivery;
  if (state === 'delivered') return undefined;
  const last = attempts.at(-1);
  if (state === 'cancelled') return explain({ error: hasLeft(last) ? 'gone' : 'cancelled' });
  const failure = error === undefined ? undefined : explain({ error, status });
  if (failure === undefined) return undefined;
  // The attempt names the host and what is wrong with it; the catalogue cannot.
  const own = last?.error === error ? last?.message : undefined;
  const happened = own === undefined ? failure.happened : ended(own);
  const isGivenUp = state === 'dead' && error !== 'expired';
  return { ...failure, happened, operator: isGivenUp ? afterwards(failure) : failure.operator };
}

/** What the catalogue says about an attempt may count on the next one; there is none any more. */
function afterwards({ operator }: Failure): string {
  const again = failures.exhausted.operator;
  return operator.startsWith('Nothing') ? again : `${operator} ${again}`;
}

/** An answer that is no error, and yet no delivery: the receiver wants no more. */
function hasLeft(last: Attempt | undefined): boolean {
  return last !== undefined && last.error === undefined;
}

function ended(sentence: string): string {
  return /[.!?]$/u.test(sentence) ? sentence : `${sentence}.`;
}
