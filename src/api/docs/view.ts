// Shared context of all parts of the page.
import type { Operation } from '../../contract/model/contract.ts';
import type { JsonObject } from '../../contract/document/document.ts';
import type { Validator } from '../../contract/schema/schema.ts';
import { bounds } from './bounds.ts';
import { isJson } from '../../contract/model/media.ts';
import type { Work } from '../../contract/schema/meter.ts';
import type { Written } from './written.ts';

export interface View {
  /** The root of `#/…` references. */
  root: JsonObject;
  /** Remaining schema rows for this page. */
  meter: { rowsLeft: number };
  /** What examples may cost on this page. */
  work: { requests: Work; responses: Work };
  anchors: ReadonlyMap<string, string>;
  /** The operation as written in the document; undefined if it is in another file. */
  written(operation: Operation): Written | undefined;
  /** The schema shown in the errors section; other places only link to it. */
  problemRef: string | undefined;
}

/** Cannot collide with the code of a problem, which is also an anchor: codes contain no "-". */
export function operationAnchors(operations: readonly Operation[]): ReadonlyMap<string, string> {
  const anchors = new Map<string, string>();
  const taken = new Set<string>();
  for (const { operationId } of operations) {
    anchors.set(operationId, freeAnchor(`op-${slug(operationId)}`, taken));
  }
  return anchors;
}

export function freeAnchor(wanted: string, taken: Set<string>): string {
  let anchor = wanted;
  for (let number = 2; taken.has(anchor); number += 1) anchor = `${wanted}-${number}`;
  taken.add(anchor);
  return anchor;
}

export function slug(text: string): string {
  const plain = text.replaceAll(/[^A-Za-z0-9_]+/gu, '-').replaceAll(/^-|-$/gu, '');
  return plain === '' ? 'x' : plain;
}

/**
 * The compiled schema, for schemas in another file. Only for executed operations: those were
 * compiled at load and cannot fail.
 */
export function compiledSchema(
  view: View,
  validator: Validator,
): { view: View; schema: { $ref: string } } {
  const { $ref, $defs } = validator.schema();
  return { view: { ...view, root: { $defs } }, schema: { $ref } };
}

/** The JSON type, otherwise the first; a range is shown as JSON. */
export function jsonFirst(mediaTypes: readonly string[]): string | undefined {
  return mediaTypes.find(isJson) ?? mediaTypes[0];
}

export function newMeter(): { rowsLeft: number } {
  return { rowsLeft: bounds.pageRowsMax };
}
