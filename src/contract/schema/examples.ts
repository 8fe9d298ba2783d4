// Finds examples in a document: `example`, a list of `examples`, or a map of them.
import { isList, isObject, own } from '../document/document.ts';
import type { JsonObject } from '../document/document.ts';
import { child, entries } from '../document/ref-node.ts';
import type { RefNode } from '../document/ref-node.ts';

/** Schema keywords that help to create a value but do not validate one. */
export const exampleKeywords: ReadonlySet<string> = new Set([
  'example',
  'examples',
  'readOnly',
  'discriminator',
]);

/** Must be cheap: it runs for every parameter of a document. */
export function hasExamples({ value }: RefNode): boolean {
  return isObject(value) && (Object.hasOwn(value, 'example') || Object.hasOwn(value, 'examples'));
}

/** Examples beside a schema: of a media type or a parameter. */
export function examplesBeside(holder: RefNode): unknown[] {
  const one = child(holder, 'example')?.value;
  const named = entries(child(holder, 'examples')).map(
    ([, place]) => (child(place, 'value') ?? child(place, 'dataValue'))?.value,
  );
  return [one, ...named].filter((value) => value !== undefined);
}

/** Examples inside a schema. A map of them is invalid there, but it occurs. */
export function examplesIn(schema: JsonObject): unknown[] {
  const list = own(schema, 'examples');
  const values = isList(list) ? list : isObject(list) ? Object.values(list).map(valueOf) : [];
  return [own(schema, 'example'), ...values].filter((value) => value !== undefined);
}

function valueOf(example: unknown): unknown {
  return isObject(example) && Object.hasOwn(example, 'value') ? example['value'] : example;
}
