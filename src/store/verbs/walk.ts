// A way through the deliveries of an app, newest first.
import type { Position } from '../cursor.ts';
import type { DeliveryFilter } from '../delivery-verbs.ts';
import type { Walk } from './fill-page.ts';

export interface Step {
  slice: number;
  event: string;
  /** Undefined where there was nothing. */
  n: number | undefined;
}

export interface WalkInput {
  appNo: number;
  filter: DeliveryFilter;
  below: Position;
}

export type WalkDeliveries = (input: WalkInput) => Walk<Step>;
