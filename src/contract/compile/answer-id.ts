// Where the subscriber id goes in a subscribe response, and in which form the document wants it.
import type { IdForm } from '../../core/base/id.ts';
import { isList, isObject, own } from '../document/document.ts';
import { child, items, warn, type RefNode } from '../document/ref-node.ts';
import type { Link, Location } from '../model/contract.ts';
import { indexOf, lastParameter, type DeclaredOperation } from '../model/declared-operations.ts';
import type { Validator } from '../schema/schema.ts';
import { propertiesOf } from '../schema/shape.ts';
import { propertyAt } from './answer-fills.ts';
import { idOf } from './links.ts';

export interface IdHints {
  idLink: Link | undefined;
  location: Location | undefined;
  /** Of the body of the response, and of the request. */
  schema: RefNode | undefined;
  requested: RefNode | undefined;
}

/**
 * If a link names no place, the id goes into `subscriberId`. If the schema has a property that is
 * plainly the id of the created resource, it goes there too, because clients of the document will
 * look there.
 */
export function idPointers(hints: IdHints): readonly (readonly string[])[] {
  const named = hints.idLink && idOf(hints.idLink);
  if (named !== undefined) return [named.pointer];
  const first = declaredId(hints, hints.schema, 0) ?? ['subscriberId'];
  const isUsual = first.length === 1 && first[0] === 'subscriberId';
  return isUsual ? [first] : [['subscriberId'], first];
}

const idNames: ReadonlySet<string> = new Set(['subscriberid', 'subscriptionid', 'id']);
const idDepthMax = 2;

/** At the top of the body, or in an object that the body always has: `data`. */
function declaredId(
  { location, requested }: Pick<IdHints, 'location' | 'requested'>,
  schema: RefNode | undefined,
  depth: number,
): readonly string[] | undefined {
  const properties = propertiesOf(schema);
  const given = propertiesOf(requested);
  const names = [...properties.keys()];
  for (const known of new Set([location?.id.toLowerCase(), ...idNames])) {
    const found = names.find((name) => plainName(name) === known);
    // Inside of an object that is echoed, an id of the request is the subscriber's.
    if (found !== undefined && (depth === 0 || !given.has(found))) return [found];
  }
  const required = requiredOf(schema);
  // Nothing else is known of a new subscription that could be its id.
  const others = required.filter((name) => /.(?:id|uuid)$/iu.test(name) && !given.has(name));
  if (depth === 0 && others.length === 1) return others;
  if (depth === idDepthMax) return undefined;
  for (const name of required) {
    const hints = { location, requested: given.get(name) };
    const inside = declaredId(hints, properties.get(name), depth + 1);
    if (inside !== undefined) return [name, ...inside];
  }
  return undefined;
}

/** Through references and `allOf`. */
export function requiredOf(schema: RefNode | undefined): string[] {
  const found = new Set<string>();
  const seen = new Set<unknown>();
  const waiting = schema === undefined ? [] : [schema];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (seen.has(part.value)) continue;
    seen.add(part.value);
    const names = child(part, 'required')?.value;
    for (const name of isList(names) ? names : []) if (typeof name === 'string') found.add(name);
    const all = child(part, 'allOf');
    if (all !== undefined && isList(all.value)) waiting.push(...items(all));
  }
  return [...found];
}

/** `subscription_id` → `subscriptionid`. */
export function plainName(name: string): string {
  return name.replaceAll(/[_-]/gu, '').toLowerCase();
}

/** Whether the body has a property that is named like the id. */
export function hasId(schema: RefNode | undefined): boolean {
  return [...propertiesOf(schema).keys()].some((name) => idNames.has(plainName(name)));
}

export interface IdTakers {
  pointers: readonly (readonly string[])[];
  schema: RefNode | undefined;
  /** The operations that end the subscription, and their parameter. */
  ends: readonly { draft: DeclaredOperation; parameter: string }[];
}

/** The form that all places accept, and the places that take a number. */
export function idFormOf({ pointers, schema, ends }: IdTakers): {
  form: IdForm;
  numbers: readonly (readonly string[])[];
} {
  const places = pointers.flatMap((pointer) => {
    const place = propertyAt(schema, pointer);
    return place === undefined ? [] : [{ pointer, place, demand: demandOf(place) }];
  });
  const parameters = ends.flatMap(({ draft, parameter }) => {
    const { schema: validator } = draft.parameters.find(({ name }) => name === parameter) ?? {};
    return validator === undefined ? [] : [demandIn(validator)];
  });
  const demands = [...places.map(({ demand }) => demand), ...parameters];
  const form = (['integer31', 'integer', 'uuid'] as const).find((one) => demands.includes(one));
  for (const { place, demand } of places) {
    if (demand !== undefined && demand !== form) {
      warn(
        place,
        `is the subscriber id, but another place wants it as ${formNames[form ?? demand]}`,
      );
    }
  }
  const numbers = places.filter(({ demand }) => demand?.startsWith('integer') === true);
  return { form: form ?? 'prefixed', numbers: numbers.map(({ pointer }) => pointer) };
}

const formNames = { uuid: 'a UUID', integer: 'an integer', integer31: 'an integer of 32 bits' };

type Demand = Exclude<IdForm, 'prefixed'> | undefined;

/** Type and format of a schema that names an id. */
function demandFor(type: unknown, format: unknown, maximum: unknown): Demand {
  const types = [type].flat();
  if (format === 'uuid') return 'uuid';
  if (types.includes('string') || !types.some((one) => one === 'integer' || one === 'number')) {
    return undefined;
  }
  const isShort = format === 'int32' || (typeof maximum === 'number' && maximum < 2 ** 53 - 1);
  return isShort ? 'integer31' : 'integer';
}

function demandOf(place: RefNode): Demand {
  const parts = [
    place,
    ...(child(place, 'allOf') === undefined ? [] : items(child(place, 'allOf'))),
  ];
  const value = (key: string): unknown =>
    parts.map((part) => child(part, key)?.value).find((one) => one !== undefined);
  return demandFor(value('type'), value('format'), value('maximum'));
}

function demandIn(validator: Validator): Demand {
  const { $ref, $defs } = validator.schema();
  const schema = $defs[$ref.slice($ref.lastIndexOf('/') + 1)];
  if (!isObject(schema)) return undefined;
  return demandFor(own(schema, 'type'), own(schema, 'format'), own(schema, 'maximum'));
}

/** The operations that the id of this subscription is passed to. */
export function endsOf({ drafts, unsubscribeIds, location, links }: EndHints): IdTakers['ends'] {
  const { byId, byServedPath } = indexOf(drafts);
  const below = location === undefined ? [] : (byServedPath.get(location.path) ?? []);
  const linked = links.flatMap(({ operationId }) => byId.get(operationId) ?? []);
  return [...new Set([...linked, ...below])].flatMap((draft) => {
    if (!unsubscribeIds.has(draft.operationId)) return [];
    const link = links.find(({ operationId }) => operationId === draft.operationId);
    const named = link && idOf(link)?.parameter;
    const parameter = named ?? (below.includes(draft) ? lastParameter(draft.path) : undefined);
    return parameter === undefined ? [] : [{ draft, parameter }];
  });
}

interface EndHints {
  drafts: readonly DeclaredOperation[];
  unsubscribeIds: ReadonlySet<string>;
  location: Location | undefined;
  links: readonly Link[];
}
