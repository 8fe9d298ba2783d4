// For what is dear and not always needed: made when it is first asked for, and never again.

/** A failure is kept too: what cannot be made once cannot be made again and again either. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | { error: unknown } | undefined;
  return () => {
    made ??= attempt(make);
    if ('error' in made) throw made.error;
    return made.value;
  };
}

function attempt<T>(make: () => T): { value: T } | { error: unknown } {
  try {
    return { value: make() };
  } catch (error) {
    return { error };
  }
}
