// State and action of the publish form. The payload is sent exactly as written, including number
// formats and white space.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useAction, type Action } from '../action.ts';
import { newIdempotencyKey, send } from '../api.ts';
import { param } from '../router.ts';
import type { Accepted } from '../../../src/client/contract/event.ts';
import type { EventType } from './event-types.ts';
import { typesFor } from './event-types.ts';
import { checkJson } from './json-check.ts';

export type Sent = { readonly event: string; readonly accepted: Accepted };

export type Draft = {
  readonly event: string;
  /** Undefined: the example of the contract for the current event. */
  readonly payload: string | undefined;
  readonly subject: string;
  readonly customer: string;
  readonly to: string;
  readonly contract: string;
};

export type Publishing = {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
  readonly act: Action;
  /** The event types that the payload must satisfy. */
  readonly fitting: readonly EventType[];
  readonly payload: string;
  readonly isValid: boolean;
};

export function usePublishing(
  types: readonly EventType[],
  onSent: (sent: Sent) => void,
): Publishing {
  const draft = useSignal<Draft>({
    event: param('name') ?? '',
    payload: undefined,
    subject: '',
    customer: '',
    to: param('to') ?? '',
    contract: '',
  });
  // One key per unchanged draft: a lost response or a second click never publishes twice.
  const key = useRef(newIdempotencyKey());
  const { event } = draft.value;
  const fitting = typesFor(types, event.trim());
  const payload = draft.value.payload ?? exampleOf(fitting, types);
  const act = useAction(
    async () => {
      const json = requestText({ ...draft.value, payload });
      const idempotencyKey = key.current;
      const accepted = await send<Accepted>('POST', '/events', { json, idempotencyKey });
      key.current = newIdempotencyKey();
      onSent({ event: event.trim(), accepted });
    },
    { quiet: true },
  );
  const set = (change: Partial<Draft>): void => {
    draft.value = { ...draft.value, ...change };
    key.current = newIdempotencyKey();
    act.forget();
  };
  const isValid = checkJson(payload).kind === 'right';
  return { draft: draft.value, set, act, fitting, payload, isValid };
}

function exampleOf(fitting: readonly EventType[], types: readonly EventType[]): string {
  const example = [...fitting, ...types].find((type) => type.example !== undefined)?.example;
  return JSON.stringify(example ?? { message: 'Hello from the console' }, undefined, 2);
}

function requestText({ payload, ...draft }: Draft & { payload: string }): string {
  const members = {
    event: draft.event.trim(),
    subject: textOf(draft.subject),
    customer: textOf(draft.customer),
    subscriberId: textOf(draft.to),
    contract: textOf(draft.contract),
  };
  // Absent members are left out.
  return `${JSON.stringify(members).slice(0, -1)},"payload":${payload}}`;
}

function textOf(field: string): string | undefined {
  const text = field.trim();
  return text === '' ? undefined : text;
}
