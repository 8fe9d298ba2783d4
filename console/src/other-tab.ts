// What a tab does when another one says who is signed in: all tabs share one cookie. Pure.

/** What is kept in the browser while signedOut is signed in, instead of the id of the key. */
export const signedOut = 'out';

type Here =
  | { readonly kind: 'unknown' | 'failed' | 'out' }
  | { readonly kind: 'in'; readonly session: { readonly keyId: string } };

export type Following = 'stay' | 'read' | 'reload';

/** `stored` is the id of the key that the other tab entered with, or `signedOut`. */
export function follow(state: Here, stored: string | undefined): Following {
  if (stored === undefined || state.kind === 'unknown') return 'stay';
  if (state.kind !== 'in') return stored === signedOut ? 'stay' : 'read';
  // The other tab may have been refused with a cookie that is replaced by now: only the service knows.
  if (stored === signedOut) return 'read';
  // What is shown belongs to another key, maybe to another app: nothing of it may be acted on.
  return stored === state.session.keyId ? 'stay' : 'reload';
}
