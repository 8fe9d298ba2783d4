// Decides what a tab does when another tab signs in or out: all tabs share one cookie. Pure.

/** The stored value while signed out, in place of the key ID. */
export const signedOut = 'out';

type Here =
  | { readonly kind: 'unknown' | 'failed' | 'out' }
  | { readonly kind: 'in'; readonly session: { readonly keyId: string } };

export type Following = 'stay' | 'read' | 'reload';

/** `stored` is the ID of the key that the other tab signed in with, or `signedOut`. */
export function follow(state: Here, stored: string | undefined): Following {
  if (stored === undefined || state.kind === 'unknown') return 'stay';
  if (state.kind !== 'in') return stored === signedOut ? 'stay' : 'read';
  // The other tab may have been refused with a cookie that has been replaced since: ask the
  // service.
  if (stored === signedOut) return 'read';
  // The page shows data of another key, perhaps of another app: the user must not act on it.
  return stored === state.session.keyId ? 'stay' : 'reload';
}
