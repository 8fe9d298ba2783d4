// Which operations end a subscription: those that say so, and those that a link of a subscribe
// answer hands the subscriber id to. Reading or changing a subscription must never end it.
import type { Link, Parameter } from './contract.ts';
import { indexOf } from './draft.ts';
import type { Draft } from './draft.ts';
import { compileLinks, idOf } from './links.ts';
import { child, errorAt, warn } from './place.ts';
import { successes } from './responses.ts';

export interface Unsubscribe {
  id: Parameter;
  status: number;
}

/** By operationId. */
export function findUnsubscribes(
  subscribes: readonly Draft[],
  drafts: readonly Draft[],
): ReadonlyMap<string, Unsubscribe> {
  const links = subscribes.flatMap((draft) =>
    successes(draft.place).flatMap(({ place }) => compileLinks(place, draft, drafts)),
  );
  const linked = new Set(endings(links, drafts));
  const linkTo = new Map(
    links
      .filter(idOf)
      .toReversed()
      .map((link) => [link.operationId, link]),
  );
  const found = new Map<string, Unsubscribe>();
  for (const draft of drafts) {
    const isMarked = child(draft.place, 'x-ringback')?.value === 'unsubscribe';
    if (!isMarked && !linked.has(draft)) continue;
    const id = idParameter(draft, linkTo.get(draft.operationId));
    if (id !== undefined) {
      found.set(draft.operationId, { id, status: successes(draft.place)[0]?.status ?? 200 });
    } else if (isMarked) {
      const reason = 'expected one path parameter or one query parameter';
      throw errorAt(draft.place, 'find the parameter that takes the subscriber id', reason);
    } else {
      warn(draft.place, 'a link hands it the subscriber id, but it declares no such parameter');
    }
  }
  return found;
}

/** DELETE ends; POST does when its name says so, or when no other operation could be meant. */
function endings(links: readonly Link[], drafts: readonly Draft[]): Draft[] {
  const handed = links.flatMap((link) => {
    const draft = indexOf(drafts).byId.get(link.operationId);
    return draft === undefined || idOf(link) === undefined ? [] : [{ link, draft }];
  });
  const sure = handed.filter(({ link, draft }) => {
    const name = `${link.name} ${draft.operationId} ${draft.path}`;
    return draft.method === 'DELETE' || (draft.method === 'POST' && ending.test(name));
  });
  const maybe = handed.filter(({ draft }) => draft.method === 'POST');
  return (sure.length > 0 ? sure : maybe).map(({ draft }) => draft);
}

const ending = /unsub|cancel|delete|remove|revoke|stop|terminate/iu;

function idParameter({ parameters }: Draft, link: Link | undefined): Parameter | undefined {
  const named = link && idOf(link)?.parameter;
  if (named !== undefined) {
    return parameters.find(({ name }) => name === named);
  }
  for (const kind of ['path', 'query'] as const) {
    const [only, ...others] = parameters.filter((one) => one.in === kind);
    if (only !== undefined && others.length === 0) return only;
  }
  return undefined;
}
