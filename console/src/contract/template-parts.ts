// Splits the key of a callback into literal text and runtime expressions. Pure.
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  /** `place` describes where the value comes from; undefined if unknown. */
  | { readonly kind: 'expression'; readonly text: string; readonly place: string | undefined };

type Reads = readonly { readonly expression: string; readonly place: string }[];

/** `{$request.body#/url}/data`: an expression, then text. */
export function templateParts(key: string, reads: Reads): TemplatePart[] {
  const places = new Map(reads.map(({ expression, place }) => [expression, place]));
  const parts: TemplatePart[] = [];
  let from = 0;
  for (const { 0: found, 1: expression = '', index } of key.matchAll(/\{(\$[^{}]*)\}/gu)) {
    if (index > from) parts.push({ kind: 'text', text: key.slice(from, index) });
    parts.push({ kind: 'expression', text: found, place: places.get(expression) });
    from = index + found.length;
  }
  if (from < key.length) parts.push({ kind: 'text', text: key.slice(from) });
  return parts;
}

/** Splits the sentence about authentication into its alternatives. */
export function waysOf(security: string): string[] {
  return security.split(', or ');
}
