// Events of callbacks whose label has several keys: each key is named after what its URL is read
// from, as in `successUrl` and `failedUrl`, so that each callback has an event of its own.
import { warn, type RefNode } from '../document/ref-node.ts';
import { repairKey, type Declared } from '../expression/repair.ts';
import { expressionsOf } from '../expression/template.ts';

export interface LabelKeys {
  /** The keys of the label without an event of their own, and the labels of the operation. */
  keys: readonly [string, RefNode][];
  labels: ReadonlySet<string>;
  /** What a key of the operation can mean. */
  readable: Declared;
}

/** By key; a key without an event of its own has that of the label. */
export function eventsOfKeys({ keys, labels, readable }: LabelKeys): ReadonlyMap<string, string> {
  if (keys.length < 2) return new Map();
  const names = keys.map(([key, item]) => ({ key, item, name: nameOf(key, readable) }));
  const byName = Map.groupBy(names, ({ name }) => name);
  const isOwn = (name: string): boolean =>
    name !== '' && byName.get(name)?.length === 1 && !labels.has(name);
  const shared = names.filter(({ name }) => !isOwn(name));
  for (const { item } of shared.length > 1 ? shared : []) {
    warn(item, 'has the same event as another key of its label; x-ringback-event sets its own');
  }
  return new Map(names.flatMap(({ key, name }) => (isOwn(name) ? [[key, name] as const] : [])));
}

/** `{$request.body#/data/successUrl}` → `success`; empty if there is no name. */
function nameOf(key: string, readable: Declared): string {
  const repaired = repairKey(key, readable);
  if (repaired.kind === 'unusable') return '';
  const [first] = expressionsOf(repaired.template);
  if (first === undefined) return '';
  const pointer = first.kind === 'body' ? first.pointer : 'name' in first ? [first.name] : [];
  return (pointer.findLast((token) => !isIndex(token)) ?? '').replace(/[-_.]?ur[li]s?$/iu, '');
}

/** Of a list, as in `/failedUrls/0`. */
function isIndex(token: string): boolean {
  return /^\d+$/u.test(token);
}
