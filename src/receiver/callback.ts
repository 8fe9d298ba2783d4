// A verified callback, as passed to a handler.
import type { Head } from './head.ts';

export interface Callback {
  /** `webhook-id`: identifies the event, the same in every attempt and every resend. Signed. */
  readonly id: string;
  /** When this attempt was made. Signed. */
  readonly timestampMs: number;
  /** The body, byte for byte as received. Signed. */
  readonly body: Uint8Array;
  /**
   * `ringback-event`, the event's name. The signature does not cover this field and those below: they are only
   * as trustworthy as the connection. Undefined if another sender omits it.
   */
  readonly event: string | undefined;
  readonly subscription: string | undefined;
  readonly delivery: string | undefined;
  /** Number of this attempt, from 1. */
  readonly attempt: number | undefined;
  /**
   * `ringback-hops`, from 1: the number of callbacks that led here, one after the other. Pass the callback on
   * when you publish because of it (`client.publish(event, { causedBy: callback })`), so that Ringback can
   * stop a loop of events and callbacks.
   */
  readonly hops: number | undefined;
  /** The body as text. Throws if it is not valid UTF-8. */
  readonly text: () => string;
  /** The body as a JSON value. Throws if it is not valid JSON. */
  readonly json: () => unknown;
}

export function makeCallback(head: Head, body: Uint8Array): Callback {
  const text = (): string => new TextDecoder('utf-8', { fatal: true }).decode(body);
  const { id, timestampMs, event, subscription, delivery, attempt, hops } = head;
  const json = (): unknown => JSON.parse(text());
  return { id, timestampMs, body, event, subscription, delivery, attempt, hops, text, json };
}
