// The shape of a subscribe response: status, echoed fields, and where the id goes.
import type { AnswerShape, Link, Location } from '../model/contract.ts';
import { indexOf, lastParameter } from '../model/declared-operations.ts';
import type { DeclaredOperation } from '../model/declared-operations.ts';
import { compileLinks, idOf } from './links.ts';
import { jsonContent } from '../model/media.ts';
import { at, child, warn } from '../document/ref-node.ts';
import type { RefNode } from '../document/ref-node.ts';
import { propertiesOf } from '../schema/properties.ts';
import { successes } from '../model/responses.ts';
import { compileWriteOnly } from '../schema/write-only.ts';

export interface AnswerOptions {
  /** The operations of the document, and the path of its first server. */
  drafts: readonly DeclaredOperation[];
  basePath: string;
  /** Ids of the operations that take a subscriber id. */
  unsubscribeIds: ReadonlySet<string>;
  /** The status of the variant; by default the lowest declared 2xx. */
  status: number | undefined;
}

export function compileAnswer(draft: DeclaredOperation, options: AnswerOptions): AnswerShape {
  const declared = successes(draft.place);
  const status = options.status ?? declared[0]?.status ?? 201;
  const response = declared.find((one) => one.status === status);
  if (response === undefined && declared.length > 0) {
    warn(draft.place, `answers ${status}, which its responses do not declare`);
  }
  const linksOf = (place: RefNode): Link[] => compileLinks(place, draft, options.drafts);
  const links = response === undefined ? [] : linksOf(response.place);
  const content = response && child(response.place, 'content');
  const schema = jsonContent(content)?.schema;
  const properties = propertiesOf(schema);
  const requested = jsonContent(at(draft.place, 'requestBody', 'content'))?.schema;
  const others = declared.flatMap(({ place }) => linksOf(place));
  const idLink = preferUnsubscribe([...links, ...others], options.unsubscribeIds);
  const location = locate(draft, { ...options, links: [...links, ...others] });
  return {
    status,
    echoes: [...properties].filter(([, place]) => isEchoed(place)).map(([name]) => name),
    writeOnly: compileWriteOnly([schema, requested]),
    idPointers: idPointers({ idLink, location, properties }),
    secretPointer: findSecret(properties, 0),
    location,
    links,
  };
}

function isEchoed(property: RefNode): boolean {
  return child(property, 'writeOnly')?.value !== true;
}

function preferUnsubscribe(links: readonly Link[], ids: ReadonlySet<string>): Link | undefined {
  const taking = links.filter((link) => idOf(link) !== undefined);
  return taking.find(({ operationId }) => ids.has(operationId)) ?? taking[0];
}

/**
 * If a link names no place, the id goes into `subscriberId`. If the schema has a property that is
 * plainly the id of the created resource, it goes there too, because clients of the document will
 * look there.
 */
function idPointers({ idLink, location, properties }: IdHints): readonly (readonly string[])[] {
  const named = idLink && idOf(idLink);
  if (named !== undefined) return [named.pointer];
  const names = new Set([location?.id.toLowerCase(), 'subscriberid', 'subscriptionid', 'id']);
  const declared = [...names].flatMap((name) =>
    [...properties.keys()].filter((key) => key.replaceAll(/[_-]/gu, '').toLowerCase() === name),
  );
  const [first = 'subscriberId'] = declared;
  return first === 'subscriberId' ? [[first]] : [['subscriberId'], [first]];
}

interface IdHints {
  idLink: Link | undefined;
  location: Location | undefined;
  properties: ReadonlyMap<string, RefNode>;
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
  { drafts, basePath, links }: AnswerOptions & { links: readonly Link[] },
): Location | undefined {
  const folder = path.replace(/\/$/u, '');
  const below = indexOf(drafts).byFolder.get(folder);
  if (below !== undefined) return { path: basePath + below.draft.path, id: below.parameter };
  for (const link of links) {
    const linked = indexOf(drafts).byId.get(link.operationId);
    const id = linked && lastParameter(linked.path);
    if (linked !== undefined && id !== undefined && id === idOf(link)?.parameter) {
      return { path: basePath + linked.path, id };
    }
  }
  return undefined;
}
