// Groups operations by tag, in the order of the tags of the document, then of appearance.
import type { Operation } from '../../contract/model/contract.ts';
import { isObject } from '../../contract/document/document.ts';
import { freeAnchor, slug } from './view.ts';
import type { View } from './view.ts';
import { listIn, tagOf, textIn } from './written.ts';

export interface Group {
  title: string;
  anchor: string;
  description: string | undefined;
  operations: readonly Operation[];
}

export function groupByTag(view: View, operations: readonly Operation[]): readonly Group[] {
  const declared = listIn(view.root, 'tags').filter(isObject);
  const descriptions = new Map<string | undefined, string | undefined>(
    declared.map((tag) => [textIn(tag, 'name'), textIn(tag, 'description')]),
  );
  const members = new Map<string | undefined, Operation[]>();
  for (const tag of descriptions.keys()) members.set(tag, []);
  for (const operation of operations) {
    const tag = tagOf(view.written(operation));
    members.set(tag, [...(members.get(tag) ?? []), operation]);
  }
  const taken = new Set<string>();
  const filled = [...members].filter(([, list]) => list.length > 0);
  const hasTags = filled.some(([tag]) => tag !== undefined);
  return filled.map(([tag, list]) => ({
    title: tag ?? (hasTags ? 'Other operations' : 'Operations'),
    anchor: freeAnchor(`tag-${slug(tag ?? 'operations')}`, taken),
    description: descriptions.get(tag),
    operations: list,
  }));
}
