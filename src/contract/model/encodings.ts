// Compiles `encoding` of a form or multipart body: how each property is encoded in its field or
// part.
import type { Encoding } from './contract.ts';
import { essenceOf } from './media.ts';
import { child, entries, text, warn } from '../document/ref-node.ts';
import type { RefNode } from '../document/ref-node.ts';

/** By media type, lower case, and property. */
export function compileEncodings(
  content: RefNode | undefined,
): Map<string, ReadonlyMap<string, Encoding>> {
  return new Map(
    entries(content).flatMap(([mediaType, place]) => {
      const encodings = entries(child(place, 'encoding'));
      if (encodings.length === 0) return [];
      return [
        [essenceOf(mediaType), new Map(encodings.map(([name, one]) => [name, compile(one)]))],
      ];
    }),
  );
}

const styles = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const;

function compile(place: RefNode): Encoding {
  const declared = text(place, 'style');
  const style = styles.find((known) => known === declared);
  if (declared !== undefined && style === undefined) {
    warn(place, `style "${declared}" is not a style for form fields; "form" is used`);
  }
  const explode = child(place, 'explode')?.value;
  return {
    contentType: text(place, 'contentType'),
    style,
    explode: typeof explode === 'boolean' ? explode : undefined,
  };
}
