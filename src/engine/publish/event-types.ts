// Event types: what apps declare of their events, and documents of their webhooks. A publish checks a payload by the
// schema of its name, and refuses a name that is a misspelled one. Declarations are cached like keys: a change holds at
// once on the node that made it, and within a second on the others. An app that declares nothing costs no read
// (docs/decisions/0042-event-types-belong-to-ringbacks-own-contract.md).
import { createBriefMemory } from '../../core/base/brief-memory.ts';
import { allReady, whenReady, type MaybePromise } from '../../core/base/maybe-promise.ts';
import type { App } from '../../core/domain/app.ts';
import { ownPrefix, type EventType } from '../../core/domain/event.ts';
import { isEventName, isWildcard, nameFault } from '../../core/domain/pattern.ts';
import { isOneEdit } from '../../core/errors/did-you-mean.ts';
import { invalidRequest, Problem, type Fault } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import { bounds } from '../../contract/document/bounds.ts';
import type { Contract } from '../../contract/model/contract.ts';
import { isEventOf } from '../../contract/request/payload.ts';
import { compileDeclaredSchema } from '../../contract/schema/declared-schema.ts';
import { anything } from '../../contract/sample/sample.ts';
import { checkWithin, type Validator } from '../../contract/schema/schema.ts';
import type { WorkBudget } from '../../contract/schema/step-budget.ts';
import type { EditInput } from '../../store/port/store.ts';
import { audited, type Recorded } from '../audit.ts';
import type { Context } from '../context.ts';

export interface Declarer extends Pick<App, 'no'> {
  /** Undefined: not known. */
  hasEventTypes?: boolean | undefined;
}

export interface EventTypes {
  /** Whose events apps may declare: Ringback's own contract. */
  contract: Contract;
  /** Whether a document has a webhook for events with this name. */
  isOfWebhook: (name: string) => boolean;
  /** What the app and webhooks declare of these events. Undefined: nothing. Synchronous if it is cached. */
  declared: (
    app: Declarer,
    events: readonly Pick<EventType, 'name'>[],
  ) => MaybePromise<Declared | undefined>;
  /** Called after a change on this node. */
  changed: (appNo: number) => void;
}

export interface Declared {
  contract: Contract;
  /** The schema of events with this name. */
  schemaOf: (name: string) => Validator | undefined;
  /** The declared name that this one, which is not declared, is one edit away from. Looks no further than its work allows. */
  meantBy: (name: string, work: WorkBudget) => string | undefined;
}

type Deps = Pick<Context, 'world' | 'store'> & {
  contract: Contract;
  /** All whose events can be published. */
  contracts: readonly Contract[];
};

type Version = Pick<EventType, 'name' | 'version' | 'createdMs'>;
/** The types of an app, by name. */
type Known = ReadonlyMap<string, Version>;

export function createEventTypes({ world, store, contract, contracts }: Deps): EventTypes {
  const versions = createBriefMemory(world, limits.eventTypeAppsKeptMax, async (appNo: number) => {
    const found = await store.read('eventTypeVersions', { appNo });
    return new Map(found.map((one) => [one.name, one]));
  });
  const schemaOf = createSchemaCache(store);
  const webhooks = webhooksOf(contracts);
  const declaredBy = (
    known: Known,
    schemas: ReadonlyMap<string, Validator | undefined>,
  ): Declared => ({
    contract,
    schemaOf: (name) => webhooks.get(name) ?? schemas.get(name),
    meantBy: (name, work) => {
      if (webhooks.has(name) || known.has(name) || isEventOf(contracts, name)) return undefined;
      const isMeant = (one: string): boolean => {
        if (Math.abs(one.length - name.length) > 1 || work.left <= 0) return false;
        work.left -= name.length; // Long names that differ only at their ends are compared to there.
        return isOneEdit(one, name);
      };
      return webhooks.keys().find(isMeant) ?? known.keys().find(isMeant);
    },
  });
  const ofWebhooks = webhooks.size === 0 ? undefined : declaredBy(new Map(), new Map());
  return {
    contract,
    isOfWebhook: (name) => webhooks.has(name),
    declared: (app, events) => {
      if (app.hasEventTypes === false && !versions.isFresh(app.no)) return ofWebhooks;
      return whenReady(versions.find(app.no), (known) => {
        if (known.size === 0) return ofWebhooks;
        const names = new Set(events.map(({ name }) => name));
        const named = [...names].flatMap((name) => known.get(name) ?? []);
        const schemas = named.map((one) => schemaOf(app.no, one));
        return whenReady(allReady(schemas), (read) =>
          declaredBy(known, new Map(named.map(({ name }, at) => [name, read[at]]))),
        );
      });
    },
    changed: (appNo) => {
      versions.forget(appNo);
      // Also tells that the app may have types, which its cached keys do not know yet.
      const read = versions.find(appNo);
      if (read instanceof Promise) read.catch(() => undefined);
    },
  };
}

/** By event. */
function webhooksOf(contracts: readonly Contract[]): ReadonlyMap<string, Validator> {
  const all = contracts.flatMap(({ webhooks }) => webhooks);
  return new Map(all.map(({ event, payload }) => [event, payload ?? anything]));
}

/** Compiled schemas, up to a number of characters of all of them. */
function createSchemaCache(
  store: Deps['store'],
): (appNo: number, version: Version) => MaybePromise<Validator | undefined> {
  const kept = new Map<string, { validator: Validator; chars: number }>();
  let chars = 0;
  const keep = (id: string, validator: Validator, size: number): void => {
    kept.set(id, { validator, chars: size });
    chars += size;
    for (const [oldest, one] of kept) {
      if (chars <= limits.eventTypeCharsKeptMax) return;
      kept.delete(oldest);
      chars -= one.chars;
    }
  };
  return (appNo, { name, version, createdMs }) => {
    const id = JSON.stringify([appNo, name, version, createdMs]);
    const known = kept.get(id);
    if (known !== undefined) return known.validator;
    return store.read('eventType', { appNo, name }).then((type) => {
      const compiled = type && compileDeclaredSchema(JSON.parse(type.schema));
      // Deleted in the meantime, or declared to a version with other rules.
      if (type === undefined || compiled?.kind !== 'compiled') return undefined;
      const isSame = type.version === version && type.createdMs === createdMs;
      if (isSame && !kept.has(id)) keep(id, compiled.validator, type.schema.length);
      return compiled.validator;
    });
  };
}

/** An event whose name is nearly a declared one. */
export interface Misspelled {
  name: string;
  /** Its location in the request. */
  at: string;
  meant: string;
}

export function misspelledEvent(misspelled: readonly Misspelled[]): Problem {
  const [first] = misspelled;
  const faults = misspelled.map(({ at, meant }) => ({
    field: `${at}/event`,
    message: `is not declared, did you mean "${meant}"?`,
  }));
  const detail = `Cannot publish event "${first?.name}": did you mean "${first?.meant}"?`;
  return new Problem('event_misspelled', detail, { faults });
}

export interface NewEventType {
  name: string;
  schema: unknown;
  description: string | undefined;
  /** Undefined: none. */
  example: unknown;
  state: EventType['state'];
}

export async function putEventType(
  { store }: Pick<Context, 'store'>,
  types: EventTypes,
  { app, ...given }: NewEventType & { app: Recorded },
): Promise<{ type: EventType; isNew: boolean }> {
  const type = readNewType(given);
  if (types.isOfWebhook(given.name)) throw definedByWebhook(given.name);
  const { no: appNo } = app;
  const audit = audited(app, 'event_type.replaced', { object: given.name });
  const result = await store.edit('putEventType', { appNo, type, audit });
  if (result.kind === 'full') throw tooMany(given.name, result);
  types.changed(appNo);
  return { type: result.type, isNew: result.kind === 'created' };
}

function definedByWebhook(name: string): Problem {
  const detail =
    `Cannot declare event type ${JSON.stringify(name)}: a webhook of a contract defines it. Change ` +
    'its document instead';
  return new Problem('conflict', detail);
}

function readNewType(given: NewEventType): EditInput<'putEventType'>['type'] {
  const { name, description, state } = given;
  const schema = JSON.stringify(given.schema);
  const example = given.example === undefined ? undefined : JSON.stringify(given.example);
  const faults = [
    ...faultsOfName(name),
    ...faultsOfText(description),
    ...tooLong('schema', schema, limits.eventTypeSchemaCharsMax),
    ...tooLong('example', example ?? '', limits.eventTypeExampleCharsMax),
  ];
  if (faults.length === 0) faults.push(...faultsOfSchema(given));
  if (faults.length > 0) throw invalidRequest(faults);
  return { name, schema, description, example, state };
}

function faultsOfName(name: string): Fault[] {
  const field = 'path.name';
  if (!isEventName(name)) return [{ field, message: nameFault }];
  if (isWildcard(name)) return [{ field, message: 'is a pattern, expected the name of an event' }];
  if (!name.startsWith(ownPrefix)) return [];
  return [{ field, message: `starts with "${ownPrefix}", which is reserved for Ringback’s own` }];
}

/** PostgreSQL cannot store unpaired surrogates. */
function faultsOfText(description = ''): Fault[] {
  if (description.isWellFormed()) return [];
  return [{ field: 'body#/description', message: 'contains an unpaired surrogate' }];
}

function tooLong(member: string, { length }: string, charsMax: number): Fault[] {
  if (length <= charsMax) return [];
  const message = `has ${length} characters as JSON, expected at most ${charsMax}`;
  return [{ field: `body#/${member}`, message }];
}

function faultsOfSchema({ schema, example }: NewEventType): Fault[] {
  const compiled = compileDeclaredSchema(schema);
  if (compiled.kind === 'refused') return below('schema', compiled.faults);
  if (example === undefined) return [];
  const work = { left: bounds.requestStepsMax };
  return below('example', checkWithin(compiled.validator, example, work));
}

function below(member: string, faults: readonly Fault[]): Fault[] {
  return faults.map(({ field, message }) => ({ field: `body#/${member}${field}`, message }));
}

function tooMany(name: string, { types, chars }: { types: number; chars: number }): Problem {
  const [found, most] =
    types > limits.eventTypesMax
      ? [`${types} event types`, limits.eventTypesMax]
      : [`event types of ${chars} characters`, limits.eventTypesCharsMax];
  const detail =
    `Cannot declare event type ${JSON.stringify(name)}: the app would have ${found}, expected at ` +
    `most ${most}. Delete some that are no longer published`;
  return new Problem('quota_exceeded', detail);
}

export async function listEventTypes(
  { store }: Pick<Context, 'store'>,
  app: Pick<App, 'no'>,
): Promise<readonly EventType[]> {
  return store.read('eventTypes', { appNo: app.no });
}

export async function getEventType(
  { store }: Pick<Context, 'store'>,
  app: Pick<App, 'no'>,
  name: string,
): Promise<EventType> {
  const type = await store.read('eventType', { appNo: app.no, name });
  if (type === undefined) throw notFound(name);
  return type;
}

export async function deleteEventType(
  { store }: Pick<Context, 'store'>,
  types: EventTypes,
  { app, name }: { app: Recorded; name: string },
): Promise<void> {
  const { no: appNo } = app;
  const audit = audited(app, 'event_type.deleted', { object: name });
  const result = await store.edit('deleteEventType', { appNo, name, audit });
  if (result.kind === 'not_found') throw notFound(name);
  types.changed(appNo);
}

function notFound(name: string): Problem {
  return new Problem('not_found', `The app declares no event type ${JSON.stringify(name)}`);
}
