// The texts of shared components and formats, in the language of the page: always English in the console, and that of
// the session in the customer portal. They are set before the first render.
import type { Words } from './english.ts';

let current: Words | undefined;

export function words(): Words {
  if (current === undefined) throw new Error('The texts are not set');
  return current;
}

export function setWords(chosen: Words): void {
  current = chosen;
}

/** The name of the product, for the title of the window. */
export function setProduct(product: string): void {
  current = { ...words(), product };
}
