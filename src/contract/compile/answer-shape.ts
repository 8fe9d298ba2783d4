// Compiles the shape of the response to a subscribe or an unsubscribe request: status, echoed fields,
// and where the id goes.
import { at, child, entries, warn, type RefNode } from '../document/ref-node.ts';
import type { AnswerShape, Link, Location } from '../model/contract.ts';
import {
  indexOf,
  lastParameter,
  successes,
  type DeclaredOperation,
} from '../model/declared-operations.ts';
import { jsonContent } from '../model/media.ts';
import { propertiesOf } from '../schema/shape.ts';
import { makeValidator } from '../schema/schema.ts';
import { compileWriteOnly } from '../schema/write-only.ts';
import { planFills } from './answer-fills.ts';
import { endsOf, hasId, idFormOf, idPointers, type IdHints, type IdTakers } from './answer-id.ts';
import { compileLinks, idOf } from './links.ts';

export interface AnswerOptions {
  /** The operations of the document. */
  drafts: readonly DeclaredOperation[];
  /** Ids of the operations that take a subscriber id. */
  unsubscribeIds: ReadonlySet<string>;
  /** The status of the variant; by default the declared one that fits best. */
  status: number | undefined;
  /** It replaces an earlier subscription: nothing is created. */
  isReplaced: boolean;
}

export function compileAnswer(draft: DeclaredOperation, options: AnswerOptions): AnswerShape {
  const linksOf = (place: RefNode): Link[] => compileLinks(place, draft, options.drafts);
  const created = options.status ?? (options.isReplaced ? 200 : 201);
  const declared = successes(draft.place, created).toSorted(
    (a, b) => namesId(b.place, linksOf) - namesId(a.place, linksOf) || rankOf(a) - rankOf(b),
  );
  const known = declared.filter(({ status: one }) => one === 200 || one === 204);
  const usual = options.isReplaced ? (known.at(-1) ?? declared[0]) : declared[0];
  const status = options.status ?? usual?.status ?? created;
  const response = declared.find((one) => one.status === status)?.place;
  if (response === undefined && declared.length > 0) {
    warn(draft.place, `answers ${status}, which its responses do not declare`);
  }
  const links = response === undefined ? [] : linksOf(response);
  const others = declared.flatMap(({ place }) => linksOf(place));
  const idLink = preferUnsubscribe([...links, ...others], options.unsubscribeIds);
  const allLinks = [...links, ...others];
  const location = locate(draft, { ...options, links: allLinks });
  const ends = endsOf({ ...options, location, links: allLinks });
  return { ...compileResponse(draft, { status, response, idLink, location, ends }), links };
}

/** The response of an operation that ends the subscription that `id` names. */
export function compileEnd(draft: DeclaredOperation, id: string | undefined): AnswerShape {
  const declared = successes(draft.place, 200);
  // The subscription ends at once; 202 would mean that the end is still to come.
  const response = declared.find(({ status }) => status !== 202) ?? declared[0];
  const shape = compileResponse(draft, {
    status: response?.status ?? 200,
    response: response?.place,
    idLink: undefined,
    location: id === undefined ? undefined : { path: draft.serverPath + draft.path, id },
    ends: id === undefined ? [] : [{ draft, parameter: id }],
  });
  return { ...shape, links: [], location: undefined, secretPointer: undefined };
}

interface ResponseHints extends Pick<IdHints, 'idLink' | 'location'>, Pick<IdTakers, 'ends'> {
  status: number;
  response: RefNode | undefined;
}

function compileResponse(
  draft: DeclaredOperation,
  { status, response, idLink, location, ends }: ResponseHints,
): Omit<AnswerShape, 'links'> {
  const hasBody = status !== 204 && status !== 205;
  const content = response && hasBody ? child(response, 'content') : undefined;
  const json = jsonContent(content);
  if (content !== undefined && json === undefined && entries(content).length > 0) {
    warn(content, 'declares no JSON; the response is application/json');
  }
  const schema = json?.schema;
  const properties = propertiesOf(schema);
  const requested = jsonContent(at(draft.place, 'requestBody', 'content'))?.schema;
  const pointers = idPointers({ idLink, location, schema, requested });
  const secretPointer = findSecret(properties, 0);
  const taken = [...pointers, ...(secretPointer === undefined ? [] : [secretPointer])];
  const plan = planFills(schema, { requested, taken });
  for (const place of plan.missing) warn(place, unfilled);
  const { form, numbers } = idFormOf({ pointers, schema, ends });
  const headers = compileHeaders(response, draft, location);
  return {
    status,
    mediaType: json === undefined ? 'application/json' : json.mediaType,
    echoes: [...properties].filter(([, place]) => isEchoed(place)).map(([name]) => name),
    choices: plan.choices,
    schema: schema && makeValidator(schema),
    writeOnly: compileWriteOnly([schema, requested]),
    idPointers: pointers,
    idNumbers: numbers,
    idForm: form,
    secretPointer,
    location: location && headers.isAbsolute ? { ...location, isAbsolute: true } : location,
    headers: headers.echoed,
  };
}

export const unfilled =
  'the response requires it, but neither the request nor the schema determines its value; ' +
  'the response lacks it. Give it a "default", or do not require it';

/** Headers of the response that the request has, too, and the form of `Location`. */
function compileHeaders(
  response: RefNode | undefined,
  { parameters }: DeclaredOperation,
  location: Location | undefined,
): { echoed: string[]; isAbsolute: boolean } {
  const declared = entries(response && child(response, 'headers'));
  const sent = new Set(
    parameters.filter((one) => one.in === 'header').map(({ name }) => name.toLowerCase()),
  );
  const echoed: string[] = [];
  let isAbsolute = false;
  for (const [written, place] of declared) {
    const name = written.toLowerCase();
    if (name === 'location' && location !== undefined) {
      isAbsolute = at(place, 'schema', 'format')?.value === 'uri';
    } else if (sent.has(name)) echoed.push(name);
    else if (child(place, 'required')?.value === true) warn(place, unfilled);
  }
  return { echoed, isAbsolute };
}

/** Of responses that say as much about the id: created, accepted, no content, anything else. */
function rankOf({ status }: { status: number }): number {
  const order = [201, 202, 204, 200];
  return order.includes(status) ? order.indexOf(status) : order.length;
}

/** 2 if a link of the response reads the id, 1 if its body or `Location` has it, otherwise 0. */
function namesId(place: RefNode, linksOf: (place: RefNode) => Link[]): number {
  if (linksOf(place).some((link) => idOf(link) !== undefined)) return 2;
  const headers = entries(child(place, 'headers'));
  if (headers.some(([name]) => name.toLowerCase() === 'location')) return 1;
  return hasId(jsonContent(child(place, 'content'))?.schema) ? 1 : 0;
}

function isEchoed(property: RefNode): boolean {
  return child(property, 'writeOnly')?.value !== true;
}

function preferUnsubscribe(links: readonly Link[], ids: ReadonlySet<string>): Link | undefined {
  const taking = links.filter((link) => idOf(link) !== undefined);
  return taking.find(({ operationId }) => ids.has(operationId)) ?? taking[0];
}

const secretDepthMax = 4;

function findSecret(properties: ReadonlyMap<string, RefNode>, depth: number): string[] | undefined {
  for (const [name, place] of properties) {
    if (child(place, 'x-ringback')?.value === 'secret') return [name];
  }
  if (depth === secretDepthMax) return undefined;
  for (const [name, place] of properties) {
    const inside = findSecret(propertiesOf(place), depth + 1);
    if (inside !== undefined) return [name, ...inside];
  }
  return undefined;
}

/** The path below the subscribe path, or one that a link passes the id to. */
function locate(
  { path }: DeclaredOperation,
  { drafts, links }: AnswerOptions & { links: readonly Link[] },
): Location | undefined {
  const folder = path.replace(/\/$/u, '');
  const below = indexOf(drafts).byFolder.get(folder);
  if (below !== undefined)
    return { path: below.draft.serverPath + below.draft.path, id: below.parameter };
  for (const link of links) {
    const linked = indexOf(drafts).byId.get(link.operationId);
    const id = linked && lastParameter(linked.path);
    if (linked !== undefined && id !== undefined && id === idOf(link)?.parameter) {
      return { path: linked.serverPath + linked.path, id };
    }
  }
  return undefined;
}
