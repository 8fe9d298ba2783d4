// Shows deliveries to people: a line each, or one with all its attempts.
import type { Attempt, Delivery, GetDeliveryAnswer } from '../../client/client.ts';
import type { Column } from '../terminal/table.ts';
import { paintState, stateColumn, type View } from '../service/view.ts';
import { tookTime } from '../terminal/when.ts';

export function deliveryColumns({ paint, when }: View): Column<Delivery>[] {
  return [
    { title: 'ID', show: ({ id }) => id },
    stateColumn(paint),
    { title: 'EVENT', show: ({ event }) => event, rank: 7, shrinksTo: 12 },
    { title: 'SUBJECT', show: ({ subject }) => subject ?? '', rank: 5, shrinksTo: 12 },
    { title: 'CUSTOMER', show: ({ customer }) => customer ?? '', rank: 6, shrinksTo: 12 },
    { title: 'RESPONSE', show: answerOf, rank: 8 },
    { title: 'ATTEMPTS', show: ({ attemptCount }) => String(attemptCount), isRight: true, rank: 4 },
    { title: 'PUBLISHED', show: ({ createdAt }) => when(createdAt), rank: 6 },
    { title: 'NEXT', show: ({ nextAttemptAt }) => when(nextAttemptAt), rank: 3 },
    { title: 'URL', show: ({ callback }) => callback.url, rank: 5, shrinksTo: 16 },
  ];
}

/** The last answer of the receiver: a status, or the error if there was none. */
export function answerOf({ status, error }: Pick<Delivery, 'status' | 'error'>): string {
  return status === undefined ? (error ?? '') : String(status);
}

export function showDelivery(view: View, delivery: GetDeliveryAnswer): string {
  const { paint, exactly } = view;
  const { callback, attempts } = delivery;
  const head = view.facts([
    ['delivery', delivery.id],
    ['state', delivery.state, (text) => paintState(paint, delivery.state, text)],
    ['event', `${delivery.event}  ${delivery.eventId}`],
    ['subject', delivery.subject],
    ['customer', delivery.customer],
    ['subscription', delivery.subscriberId],
    ['callback', `${callback.label}  ${callback.method} ${callback.url}`],
    ['published', exactly(delivery.createdAt)],
    ['next attempt', exactly(delivery.nextAttemptAt)],
    ['ended', exactly(delivery.endedAt)],
    ['error', delivery.error],
  ]);
  const tries = attempts.map((attempt, at) => showAttempt(view, attempt, at + 1));
  return [head, ...tries, `\n${nextStep(delivery)}\n`].join('');
}

function showAttempt(view: View, attempt: Attempt, number: number): string {
  const { request, response } = attempt;
  const { paint } = view;
  const isGood = attempt.error === undefined;
  const answer = `${answerOf(attempt) || 'no response'} after ${tookTime(attempt.tookMs)}`;
  const title = `\nAttempt ${number}: ${paint(isGood ? 'green' : 'red', answer)}\n`;
  return (
    title +
    view.facts([
      ['started', view.exactly(attempt.startedAt)],
      ['error', attempt.error],
      ['message', attempt.message],
      ['warning', attempt.warning],
      ['request', `${request.method} ${request.url}\n${headerLines(request.headers)}`],
      ['response', response === undefined ? undefined : headerLines(response.headers)],
      ['body', bodyOf(response)],
    ])
  );
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

function bodyOf(response: Attempt['response']): string | undefined {
  if (response === undefined || response.body === '') return undefined;
  return response.isCut ? `${response.body}\n(truncated)` : response.body;
}

function nextStep({ id, state, eventId }: Delivery): string {
  switch (state) {
    case 'dead':
      return `No further attempts. Send it again: ringback retry ${id}`;
    case 'delivered':
    case 'cancelled':
      return `Show the payload: ringback events ${eventId}. Send it again: ringback retry ${id}`;
    case 'due':
    case 'running':
      return `Delivery is pending. Show the payload: ringback events ${eventId}`;
  }
}
