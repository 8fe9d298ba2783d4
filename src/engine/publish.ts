// Publish: an event, checked against the contract, goes down with its deliveries in one transaction.
// A 2xx means that it is on the disk. The payload's bytes are never touched.
import type { App } from '../core/app.ts';
import { ownPrefix, pingEvent } from '../core/event.ts';
import { withoutPrefix, withPrefix } from '../core/id.ts';
import { isEventName } from '../core/pattern.ts';
import { Problem, type Fault } from '../core/problem.ts';
import type { Contract } from '../contract/contract.ts';
import { checkPayload } from '../contract/payload.ts';
import type { Accepted, Audience } from '../store/delivery-verbs.ts';
import type { EditInput } from '../store/store.ts';
import type { Context } from './context.ts';
import { idempotencyMismatch, idempotencyOf, type KeyedRequest } from './idempotency.ts';
import { StoreSilent } from './in-time.ts';

export interface NewEvent {
  name: string;
  /** As parsed, to be checked. */
  value: unknown;
  /** As published, to be kept and sent. */
  payload: Uint8Array;
  /** Where it stands in the request, for messages: `body#` or `body#/events/3`. */
  at: string;
}

export interface PublishCall {
  app: Pick<App, 'no' | 'id'>;
  contract: Contract;
  events: readonly NewEvent[];
  /** One subscription to address, by its external id. */
  subscriberId: string | undefined;
  idempotency: KeyedRequest | undefined;
}

export async function publish(context: Context, call: PublishCall): Promise<readonly Accepted[]> {
  const { app, contract, events, subscriberId } = call;
  const refusal = refusalOf(contract, events);
  if (refusal !== undefined) throw refusal;
  const audience = audienceOf(subscriberId);
  return write(context, {
    appNo: app.no,
    contract: contract.title,
    events: events.map(({ name, payload }) => ({ id: context.newId(), name, payload })),
    audience,
    idempotency: call.idempotency && idempotencyOf(call.idempotency),
  });
}

/** A test message to every callback of a subscription, whatever it hears. */
export async function ping(
  context: Context,
  app: Pick<App, 'no'>,
  { id, contract }: { id: string; contract: string },
): Promise<Accepted | undefined> {
  const bare = withoutPrefix('sub', id);
  if (bare === undefined) throw notFound(id);
  const payload = Buffer.from(JSON.stringify({ message: 'This is a test message from Ringback.' }));
  const [accepted] = await write(context, {
    appNo: app.no,
    contract,
    events: [{ id: context.newId(), name: pingEvent, payload }],
    audience: { kind: 'all_callbacks', id: bare },
    idempotency: undefined,
  });
  return accepted;
}

async function write(
  { store }: Context,
  input: EditInput<'publish'>,
): Promise<readonly Accepted[]> {
  const result = await store.edit('publish', input).catch((error: unknown) => {
    throw error instanceof StoreSilent && input.idempotency === undefined ? inDoubt(error) : error;
  });
  switch (result.kind) {
    case 'accepted':
    case 'repeated':
      return result.events;
    case 'mismatch':
      throw idempotencyMismatch();
    case 'taken':
      throw new Error('Cannot publish: an event that is not of the inbox was taken from there');
    case 'not_found': {
      const { audience } = input;
      throw notFound(audience.kind === 'everyone' ? '' : withPrefix('sub', audience.id));
    }
  }
}

/** Why the events cannot be published, in the words that a publisher gets. */
export function refusalOf(contract: Contract, events: readonly NewEvent[]): Problem | undefined {
  const faults: Fault[] = [];
  for (const { name, value, at } of events) {
    const nameFault = faultOfName(name);
    if (nameFault !== undefined) {
      return new Problem('invalid_request', `Cannot publish event "${name}": it ${nameFault}`, {
        faults: [{ field: `${at}/event`, message: nameFault }],
      });
    }
    for (const { field, message, callback } of checkPayload(contract, name, value)) {
      const said = `${message} (callback "${callback}")`;
      faults.push({ field: `${at}/payload${field}`, message: said });
    }
  }
  const [first] = faults;
  if (first === undefined) return undefined;
  const detail = `The payload breaks the contract: ${first.field} ${first.message}`;
  return new Problem('payload_refused', detail, { faults });
}

function faultOfName(name: string): string | undefined {
  if (!isEventName(name)) {
    return 'is no event name, expected segments of letters, digits, _ and -, joined by dots';
  }
  if (!name.startsWith(ownPrefix)) return undefined;
  return `begins with "${ownPrefix}", which is reserved for events of Ringback itself`;
}

function audienceOf(subscriberId: string | undefined): Audience {
  if (subscriberId === undefined) return { kind: 'everyone' };
  const id = withoutPrefix('sub', subscriberId);
  if (id === undefined) throw notFound(subscriberId);
  return { kind: 'subscription', id };
}

/** Without a key nobody could tell a repetition from a second event. */
function inDoubt(cause: StoreSilent): Problem {
  const detail =
    'The store did not answer in time. The event may have been accepted all the same, and without an ' +
    'Idempotency-Key publishing it again may send it twice: with one, repeating is safe';
  return new Problem('store_unavailable', detail, { cause });
}

function notFound(id: string): Problem {
  const message = `There is no active subscription ${JSON.stringify(id)}`;
  return new Problem('not_found', message, {
    faults: [{ field: 'body#/subscriberId', message: 'names no active subscription' }],
  });
}
