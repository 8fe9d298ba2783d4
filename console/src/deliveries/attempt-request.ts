// What is known of the request of an attempt: enough to show it, and to repeat it but for its signature.
import type { Load } from '../load.ts';
import type {
  Attempt,
  GetDeliveryAnswer as DeliveryWithAttempts,
} from '../../../src/client/contract/delivery.ts';

export type AttemptRequest = {
  readonly delivery: DeliveryWithAttempts;
  /** Undefined before the first one. */
  readonly attempt: Attempt | undefined;
  /** The body, as it was published. */
  readonly payload: Load<string>;
  /** Undefined: the contract wants no body. */
  readonly mediaType: string | undefined;
  /** False while any of it is read: without its body it would be another request. */
  readonly isKnown: boolean;
};
