// What an operation says about its subscriptions: what they are about (`x-ringback-subject`), whose they are
// (`x-ringback-customer`), how long they live (`x-ringback-expires`), and by which statuses an API accepts them. The extensions are Ringback's own, so mistakes in
// them are errors, never guessed at.
import { isoDurationMs } from '../../core/base/parse-time.ts';
import { limits } from '../../core/limits/limits.ts';
import { child, entries, errorAt, warn, type RefNode } from '../document/ref-node.ts';
import { printExpression, type Expression } from '../expression/expression.ts';
import { expressionsOf, parseTemplate, type Template } from '../expression/template.ts';
import type { Link } from '../model/contract.ts';
import { indexOf, successes, type DeclaredOperation } from '../model/declared-operations.ts';
import { jsonContent } from '../model/media.ts';
import { propertiesOf } from '../schema/shape.ts';
import { plainName, requiredOf } from './answer-id.ts';
import { checkVisible } from './check-expressions.ts';
import { compileLinks } from './links.ts';

export function compileSubject(draft: DeclaredOperation): Template | undefined {
  const example = '$response.body#/id';
  return templateAt(draft, { extension: 'x-ringback-subject', what: 'subject', example });
}

/** Only the request may say whose it is: a subscription is written before an API answers. */
export function compileCustomer(draft: DeclaredOperation): Template | undefined {
  const extension = 'x-ringback-customer';
  const example = '$request.header.X-Account';
  const template = templateAt(draft, { extension, what: 'customer', example });
  const late = expressionsOf(template ?? []).find((one) => !isOfRequest(one));
  const place = child(draft.place, extension);
  if (late === undefined || place === undefined) return template;
  const found = `it reads ${printExpression(late)}, expected a part of the request`;
  throw errorAt(place, 'read the customer', found);
}

function isOfRequest(expression: Expression): boolean {
  return 'from' in expression && expression.from === 'request';
}

function templateAt(
  draft: DeclaredOperation,
  { extension, what, example }: { extension: string; what: string; example: string },
): Template | undefined {
  const place = child(draft.place, extension);
  if (place === undefined) return undefined;
  const parsed = typeof place.value === 'string' ? parseTemplate(place.value) : undefined;
  const expressions = parsed?.kind === 'parsed' ? expressionsOf(parsed.template) : [];
  if (parsed?.kind === 'parsed' && expressions.length > 0) {
    checkVisible(expressions, place, draft);
    return parsed.template;
  }
  const expected = `expected a runtime expression such as "${example}", or a text with expressions in braces`;
  throw errorAt(place, `read the ${what}`, `it is ${JSON.stringify(place.value)}, ${expected}`);
}

export function compileExpires({ place: operation }: DeclaredOperation): number | undefined {
  const place = child(operation, 'x-ringback-expires');
  if (place === undefined) return undefined;
  const ms = typeof place.value === 'string' ? isoDurationMs(place.value) : undefined;
  if (ms !== undefined && ms > 0 && ms <= limits.expiresMaxMs) return ms;
  const expected = 'expected an ISO 8601 duration such as "P7D" or "PT12H", at most 10 years';
  throw errorAt(place, 'read the expiry', `it is ${JSON.stringify(place.value)}, ${expected}`);
}

/** The declared ones: `201`, `2XX`. */
export function acceptedStatuses({ place }: DeclaredOperation): string[] {
  return entries(child(place, 'responses'))
    .map(([status]) => status.toUpperCase())
    .filter((status) => /^2(?:\d\d|XX)$/u.test(status));
}

/**
 * The id of what an API created, which its events will name: the part of the response that a link hands on, or that is
 * called like the parameter of the path below.
 */
export function createdId(
  draft: DeclaredOperation,
  drafts: readonly DeclaredOperation[],
): Template | undefined {
  const responses = successes(draft.place, 201).map(({ place }) => place);
  const expression =
    linkedId(draft, { responses, drafts }) ?? namedId(draft, { responses, drafts });
  return expression && [{ kind: 'expression', expression }];
}

interface Declared {
  /** Of the statuses that accept the request. */
  responses: readonly RefNode[];
  drafts: readonly DeclaredOperation[];
}

function linkedId(
  draft: DeclaredOperation,
  { responses, drafts }: Declared,
): Expression | undefined {
  const found = responses.flatMap((place) =>
    compileLinks(place, draft, drafts).flatMap((link) => {
      const to = indexOf(drafts).byId.get(link.operationId);
      const expression = to && handedOn(link, to);
      return to === undefined || expression === undefined ? [] : [{ to, expression }];
    }),
  );
  const isBelow = ({ path }: DeclaredOperation): boolean => path.startsWith(`${folderOf(draft)}/`);
  const below = found.filter(({ to }) => isBelow(to));
  const candidates = below.length > 0 ? below : found;
  const printed = new Map(
    candidates.map(({ expression }) => [printExpression(expression), expression] as const),
  );
  const [first, ...others] = printed.values();
  if (others.length === 0) return first;
  const names = [...printed.keys()].join(' and ');
  const why = `its links read ${names} of the response, so its subscriptions have no subject`;
  warn(draft.place, `${why}; x-ringback-subject says which one it is`);
  return undefined;
}

/** What the link reads in the response for the last parameter of the path, or for its only one. */
function handedOn({ parameters }: Link, { path }: DeclaredOperation): Expression | undefined {
  const read = [...parameters].flatMap(([name, source]) =>
    'from' in source && source.from === 'response' ? [{ name, source }] : [],
  );
  const last = /\{([^{}/]+)\}[^{}]*$/u.exec(path)?.[1];
  const named = read.find(({ name }) => name === last);
  if (named !== undefined) return named.source;
  return last === undefined && read.length === 1 ? read[0]?.source : undefined;
}

const idDepthMax = 2;

/** `jobId` or `id` in the response, if there is a path `/jobs/{jobId}`. */
function namedId(
  draft: DeclaredOperation,
  { responses, drafts }: Declared,
): Expression | undefined {
  const parameter = indexOf(drafts).byFolder.get(folderOf(draft))?.parameter;
  if (parameter === undefined) return undefined;
  for (const response of responses) {
    const schema = jsonContent(child(response, 'content'))?.schema;
    for (const name of [parameter, 'id']) {
      const pointer = propertyNamed(plainName(name), schema, 0);
      if (pointer !== undefined) return { kind: 'body', from: 'response', pointer };
    }
  }
  return undefined;
}

/** At the top of the body, or in an object that the body always has: `data`. */
function propertyNamed(
  name: string,
  schema: RefNode | undefined,
  depth: number,
): string[] | undefined {
  const properties = propertiesOf(schema);
  const found = [...properties.keys()].find((one) => plainName(one) === name);
  if (found !== undefined) return [found];
  if (depth === idDepthMax) return undefined;
  for (const one of requiredOf(schema)) {
    const inside = propertyNamed(name, properties.get(one), depth + 1);
    if (inside !== undefined) return [one, ...inside];
  }
  return undefined;
}

function folderOf({ path }: DeclaredOperation): string {
  return path.replace(/\/$/u, '');
}
