// A callback that was verified, as a handler gets it.
import type { Head } from './head.ts';

export interface Callback {
  /** `webhook-id`: the event, the same in every attempt and every repetition. Signed. */
  readonly id: string;
  /** When this attempt was made. Signed. */
  readonly timestampMs: number;
  /** The bytes as they came. Signed. */
  readonly body: Uint8Array;
  /**
   * `ringback-event`, the event's name. The signature does not cover this and what follows: it is as
   * trustworthy as the way that the callback took. Undefined where another sender says nothing of it.
   */
  readonly event: string | undefined;
  readonly subscription: string | undefined;
  readonly delivery: string | undefined;
  /** From 1. */
  readonly attempt: number | undefined;
  /**
   * `ringback-hops`, from 1: callbacks that led here, one after the other. Give it to whatever this callback leads to
   * (`client.publish(event, { causedBy: callback })`), so that a loop of events and callbacks comes to an end.
   */
  readonly hops: number | undefined;
  /** The body as text. Throws where it is no UTF-8. */
  readonly text: () => string;
  /** The body as a JSON value. Throws where it is none. */
  readonly json: () => unknown;
}

export function makeCallback(head: Head, body: Uint8Array): Callback {
  const text = (): string => new TextDecoder('utf-8', { fatal: true }).decode(body);
  const { id, timestampMs, event, subscription, delivery, attempt, hops } = head;
  const json = (): unknown => JSON.parse(text());
  return { id, timestampMs, body, event, subscription, delivery, attempt, hops, text, json };
}
