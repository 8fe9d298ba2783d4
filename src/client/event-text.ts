// An event to publish as JSON text. A payload that is given as text keeps its bytes: big integers, the
// order of keys, escapes. It must be one JSON value, or it could say things besides. Pure.
import type { NewEvent, PublishEventBody } from './contract/event.ts';

export type EventWish = Pick<NewEvent, 'event'> &
  (
    | {
        /** Written by `JSON.stringify`. */
        payload: unknown;
        payloadText?: undefined;
      }
    | {
        /** JSON text, sent and delivered as it is. */
        payloadText: string;
        payload?: undefined;
      }
  );

export function eventText(
  { event, payload, payloadText }: EventWish,
  address: Pick<PublishEventBody, 'subscriberId' | 'contract'>,
): string {
  // Without it the text below would be no JSON, or name another event.
  if (typeof event !== 'string') {
    throw new TypeError(
      `Cannot publish an event whose name is a ${typeof event}: expected a string`,
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
  // It would be sent as another character than the one that was given.
  return text.isWellFormed() ? text : refuse('its payloadText contains an unpaired surrogate');
}
