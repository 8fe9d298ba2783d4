// Removes credentials from URLs before they reach a target, a log or the store.
import type { Contract } from '../../contract/model/contract.ts';

/** Path and query of a request, without the query parameters that carry keys in this contract. */
export function withoutCredentials(target: string, { operations }: Contract): string {
  const mark = target.indexOf('?');
  if (mark < 0) return target;
  const secret = new Set(
    operations
      .flatMap(({ security }) => security.flatMap(({ schemes }) => schemes))
      .flatMap(({ carrier }) => (carrier.in === 'query' ? [carrier.name] : [])),
  );
  const pairs = target
    .slice(mark + 1)
    .split('&')
    .filter((pair) => ![...new URLSearchParams(pair).keys()].some((name) => secret.has(name)));
  return pairs.length === 0 ? target.slice(0, mark) : `${target.slice(0, mark)}?${pairs.join('&')}`;
}
