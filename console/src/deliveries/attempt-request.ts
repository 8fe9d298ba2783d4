// What is known about the request of an attempt: enough to show it, and to repeat it without its
// signature.
import type { Load } from '../load.ts';
import type {
  Attempt,
  GetDeliveryAnswer as DeliveryWithAttempts,
} from '../../../src/client/contract/delivery.ts';

export type AttemptRequest = {
  readonly delivery: DeliveryWithAttempts;
  /** Undefined before the first attempt. */
  readonly attempt: Attempt | undefined;
  /** The body, as it was published. */
  readonly payload: Load<string>;
  /** Undefined: the contract defines no body. */
  readonly mediaType: string | undefined;
  /** False while a part is loading: without its body it would be a different request. */
  readonly isKnown: boolean;
};
