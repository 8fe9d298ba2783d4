// The scopes of a key and their descriptions. Pure.
import type { Scopes } from '../../../src/client/contract/access.ts';

export type Scope = Scopes[number];

export const scopeWords: readonly { readonly scope: Scope; readonly hint: string }[] = [
  { scope: 'publish', hint: 'Publish events. For your backend.' },
  {
    scope: 'subscribe',
    hint: 'Subscribe, unsubscribe, pause, ping, and show signing secrets. For receivers.',
  },
  { scope: 'read', hint: 'Read events, deliveries with payloads, subscriptions and statistics.' },
  { scope: 'retry', hint: 'Send deliveries again, one or many.' },
  {
    scope: 'admin',
    hint: 'Create and revoke keys, event types and portal links. Includes “retry”.',
  },
  { scope: 'operator', hint: 'Create apps and list the nodes of the service. For operators.' },
];

/** In the order of the list above. */
export function scopesInOrder(scopes: readonly Scope[]): Scope[] {
  return scopeWords.map(({ scope }) => scope).filter((scope) => scopes.includes(scope));
}
