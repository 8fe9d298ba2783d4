// What a key may do, in words. Pure.
import type { Scopes } from '../../../src/client/contract/key.ts';

export type Scope = Scopes[number];

export const scopeWords: readonly { readonly scope: Scope; readonly hint: string }[] = [
  { scope: 'publish', hint: 'Publish events. For your own servers.' },
  {
    scope: 'subscribe',
    hint: 'Subscribe, unsubscribe, pause, ping, and see signing secrets. For receivers.',
  },
  { scope: 'read', hint: 'See events, deliveries with their contents, subscriptions and figures.' },
  { scope: 'admin', hint: 'Make and revoke keys, retry deliveries, start replays.' },
  { scope: 'operator', hint: 'Make apps, and see the nodes of the service. For whoever runs it.' },
];

/** In the order of the list above, whatever order they came in. */
export function scopesInOrder(scopes: readonly Scope[]): Scope[] {
  return scopeWords.map(({ scope }) => scope).filter((scope) => scopes.includes(scope));
}
