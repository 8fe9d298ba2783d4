// Finds the operations that end a subscription: those marked as such, those that a link of a
// subscribe response passes the subscriber id to, and the DELETE of the path in Location. An
// operation that reads or changes must never end one.
import { idForms, idOfForm, writeId, type IdForm } from '../../core/base/id.ts';
import { child, errorAt, warn } from '../document/ref-node.ts';
import type { Link, Owner, Parameter, Unsubscribe } from '../model/contract.ts';
import {
  indexOf,
  lastParameter,
  successes,
  type DeclaredOperation,
} from '../model/declared-operations.ts';
import { compileEnd } from './answer-shape.ts';
import { compileLinks, idOf } from './links.ts';

/** By operationId. */
export function findUnsubscribes(
  subscribes: readonly DeclaredOperation[],
  drafts: readonly DeclaredOperation[],
  owner: Owner,
): ReadonlyMap<string, Unsubscribe> {
  const linksOf = (draft: DeclaredOperation): Link[] =>
    successes(draft.place, 201).flatMap(({ place }) => compileLinks(place, draft, drafts));
  const links = subscribes.flatMap(linksOf);
  const [deletes, posts] = [deleteBelow(drafts), postsBelow(drafts)];
  const below = (draft: DeclaredOperation): DeclaredOperation[] => [
    ...deletes(draft),
    ...posts(draft),
  ];
  const linked = new Set([...endings(links, drafts, owner), ...subscribes.flatMap(below)]);
  const puts = Map.groupBy(
    subscribes.filter(({ method }) => method === 'PUT'),
    ({ path }) => path,
  );
  const endedBy = new Map<DeclaredOperation, Set<DeclaredOperation>>();
  for (const one of subscribes) {
    for (const draft of [...endings(linksOf(one), drafts, owner), ...below(one)]) {
      endedBy.set(draft, (endedBy.get(draft) ?? new Set()).add(one));
    }
  }
  const all = subscribes.map(({ operationId }) => operationId);
  const linkTo = new Map(
    links
      .filter(idOf)
      .toReversed()
      .map((link) => [link.operationId, link]),
  );
  const found = new Map<string, Unsubscribe>();
  for (const draft of drafts) {
    const isMarked = child(draft.place, 'x-ringback')?.value === 'unsubscribe';
    const { resource, ended } = resourceOf(draft, puts);
    if (!isMarked && !linked.has(draft) && resource === undefined) continue;
    const id = idParameter(draft, linkTo.get(draft.operationId));
    if (id !== undefined || resource !== undefined) {
      const isAnswered = owner === 'ringback';
      const of = new Set([...(endedBy.get(draft) ?? []), ...ended]);
      found.set(draft.operationId, {
        id: id && isAnswered ? withoutSchema(id, draft) : id,
        resource,
        of: of.size === 0 ? all : Array.from(of, ({ operationId }) => operationId),
        answer: isAnswered ? compileEnd(draft, id?.name) : undefined,
      });
    } else if (isMarked) {
      const reason = 'expected one path parameter, at the end or alone, or one query parameter';
      throw errorAt(draft.place, 'find the parameter that takes the subscriber id', reason);
    } else {
      warn(draft.place, 'a link passes the subscriber id to it, but it declares no such parameter');
    }
  }
  return found;
}

/**
 * A DELETE ends the subscription; a POST does if its name says so, or if no other operation could
 * be meant. An API may have other uses for a POST, so there its name must say so.
 */
function endings(
  links: readonly Link[],
  drafts: readonly DeclaredOperation[],
  owner: Owner,
): DeclaredOperation[] {
  const handed = links.flatMap((link) => {
    const draft = indexOf(drafts).byId.get(link.operationId);
    return draft === undefined || idOf(link) === undefined ? [] : [{ link, draft }];
  });
  const sure = handed.filter(({ link, draft }) => {
    const name = `${link.name} ${draft.operationId} ${draft.path}`;
    return draft.method === 'DELETE' || (draft.method === 'POST' && ending.test(name));
  });
  const maybe = handed.filter(({ draft }) => owner === 'ringback' && draft.method === 'POST');
  return (sure.length > 0 ? sure : maybe).map(({ draft }) => draft);
}

/** `DELETE /hooks/{id}` for `POST /hooks`: the created resource is the subscription. */
function deleteBelow(
  drafts: readonly DeclaredOperation[],
): (subscribe: DeclaredOperation) => DeclaredOperation[] {
  const deletes = Map.groupBy(
    drafts.filter(({ method }) => method === 'DELETE'),
    ({ path }) => path,
  );
  return ({ method, path }) => {
    if (method !== 'POST') return [];
    const below = indexOf(drafts).byFolder.get(path.replace(/\/$/u, ''))?.draft.path;
    return below === undefined ? [] : (deletes.get(below) ?? []);
  };
}

const endingPath = /\/(?:cancel|delete|release)$/u;

/** `POST /hooks/{id}/cancel` for `POST /hooks`. */
function postsBelow(
  drafts: readonly DeclaredOperation[],
): (subscribe: DeclaredOperation) => DeclaredOperation[] {
  const posts = Map.groupBy(
    drafts.filter(({ method, path }) => method === 'POST' && endingPath.test(path)),
    ({ path }) => path.replace(endingPath, '').replace(/\/\{[^{}/]+\}$/u, ''),
  );
  return ({ method, path }) => {
    if (method !== 'POST') return [];
    const below = posts.get(path.replace(/\/$/u, '')) ?? [];
    return below.filter((one) => lastParameter(one.path.replace(endingPath, '')) !== undefined);
  };
}

/** `DELETE /hook`, or `POST /hook/cancel`, for `PUT /hook`. `ended`: that PUT. */
function resourceOf(
  { method, path }: DeclaredOperation,
  puts: ReadonlyMap<string, readonly DeclaredOperation[]>,
): { resource: Unsubscribe['resource']; ended: readonly DeclaredOperation[] } {
  const own = method === 'DELETE' ? puts.get(path) : undefined;
  if (own !== undefined) return { resource: 'own', ended: own };
  const isPost = method === 'POST' && endingPath.test(path);
  const parent = isPost ? puts.get(path.replace(endingPath, '')) : undefined;
  return { resource: parent && 'parent', ended: parent ?? [] };
}

/**
 * Every form of an id is accepted, whatever the document declares: otherwise a subscription that
 * was made under another document could not end.
 */
function withoutSchema(id: Parameter, { place }: DeclaredOperation): Parameter {
  const { schema } = id;
  const bare = `01${'jc'.repeat(12)}`;
  const isFitting = (form: IdForm): boolean => {
    const text = writeId(form, 'sub', idOfForm(form, bare));
    const values = form.startsWith('integer') ? [text, Number(text)] : [text];
    return values.some((value) => schema === undefined || schema.check(value).length === 0);
  };
  if (isFitting('prefixed')) return id;
  if (!idForms.some(isFitting)) {
    const forms = 'a string such as sub_01jc…, a UUID or an integer';
    warn(place, `"${id.name}" is the subscriber id, ${forms}: its schema is not validated`);
  }
  return { ...id, schema: undefined };
}

const ending = /unsub|cancel|delete|remove|revoke|stop|terminate/iu;

function idParameter(
  { parameters, path }: DeclaredOperation,
  link: Link | undefined,
): Parameter | undefined {
  const named = link && idOf(link)?.parameter;
  if (named !== undefined) {
    return parameters.find(({ name }) => name === named);
  }
  const name = lastParameter(path) ?? lastParameter(path.replace(endingPath, ''));
  const last = parameters.find((one) => one.in === 'path' && one.name === name);
  if (last !== undefined) return last;
  for (const kind of ['path', 'query'] as const) {
    const [only, ...others] = parameters.filter((one) => one.in === kind);
    if (only !== undefined && others.length === 0) return only;
  }
  return undefined;
}
