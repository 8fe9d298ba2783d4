// Serializes an event to publish. A payload given as text keeps its bytes: big integers, the order of keys,
// escapes. It must be one JSON value, so that it cannot inject other members. Pure.
import type { NewEvent, PublishEventBody } from './contract/event.ts';

export type EventWish = Pick<NewEvent, 'event'> &
  (
    | {
        /** Serialized with `JSON.stringify`. */
        payload: unknown;
        payloadText?: undefined;
      }
    | {
        /** JSON text, sent and delivered unchanged. */
        payloadText: string;
        payload?: undefined;
      }
  );

export function eventText(
  { event, payload, payloadText }: EventWish,
  address: Pick<PublishEventBody, 'subscriberId' | 'contract'>,
): string {
  // Otherwise the text below would be invalid JSON, or name another event.
  if (typeof event !== 'string') {
    throw new TypeError(
      `Cannot publish an event whose name is of type ${typeof event}: expected a string`,
    );
  }
  const refuse = (why: string, cause?: unknown): never => {
    throw new TypeError(`Cannot publish "${event}": ${why}`, { cause });
  };
  if (payloadText !== undefined && payload !== undefined) {
    refuse('it has both payload and payloadText, expected one of them');
  }
  const text = payloadText === undefined ? written(payload, refuse) : checked(payloadText, refuse);
  const head = JSON.stringify({ event, ...address }).slice(0, -1);
  return `${head},"payload":${text}}`;
}

type Refuse = (why: string, cause?: unknown) => never;

function written(payload: unknown, refuse: Refuse): string {
  try {
    const text: string | undefined = JSON.stringify(payload);
    return text ?? refuse('its payload cannot be represented in JSON, expected a JSON value');
  } catch (error) {
    if (error instanceof TypeError && error.message.startsWith('Cannot publish')) throw error;
    return refuse(
      'its payload cannot be serialized as JSON, expected a JSON value (for big integers, ' +
        'use payloadText)',
      error,
    );
  }
}

function checked(text: string, refuse: Refuse): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return refuse('its payloadText is not valid JSON, expected the text of one JSON value', error);
  }
  // A lone surrogate would be sent as a different character.
  return text.isWellFormed() ? text : refuse('its payloadText contains an unpaired surrogate');
}
