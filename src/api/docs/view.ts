// What every part of the page may look at while it is drawn.
import type { Operation } from '../../contract/contract.ts';
import type { JsonObject } from '../../contract/document.ts';
import type { Validator } from '../../contract/schema.ts';
import { bounds } from './bounds.ts';
import type { Written } from './written.ts';

export interface View {
  /** Where `#/…` references start. */
  root: JsonObject;
  /** Lines that schemas may still take on this page. */
  meter: { rowsLeft: number };
  anchors: ReadonlyMap<string, string>;
  /** The operation as the document has it; undefined where another file holds it. */
  written(operation: Operation): Written | undefined;
  /** The schema that the section on errors shows: other places only refer to it. */
  problemRef: string | undefined;
}

/** Never collides with the code of a problem, which is an anchor too: those have no "-". */
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
 * The schema as the contract holds it, for where the document does not: it is in another file. Only
 * for operations that are executed: those were compiled at load, and cannot fail any more.
 */
export function compiledSchema(
  view: View,
  validator: Validator,
): { view: View; schema: { $ref: string } } {
  const { $ref, $defs } = validator.schema();
  return { view: { ...view, root: { $defs } }, schema: { $ref } };
}

export function newMeter(): { rowsLeft: number } {
  return { rowsLeft: bounds.pageRowsMax };
}
