// The key of a callback in parts: what stands in it as it is, and what is read from the request. Pure.
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  /** `place` in words; undefined where nobody knows it. */
  | { readonly kind: 'expression'; readonly text: string; readonly place: string | undefined };

type Reads = readonly { readonly expression: string; readonly place: string }[];

/** `{$request.body#/url}/data`: an expression and a text. */
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

/** The ways to send a key, one by one: they are told as one sentence. */
export function waysOf(security: string): string[] {
  return security.split(', or ');
}
