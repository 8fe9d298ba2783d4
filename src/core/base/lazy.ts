// Makes an expensive value lazily: on first use, and only once.

/** A failure is kept too: making the value again would fail again. */
export function lazy<T>(make: () => T): () => T {
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

/** By name: made when it is first asked for. */
export function remembered<T>(make: (name: string) => T): (name: string) => T {
  const made = new Map<string, T>();
  return (name) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const value = make(name);
    made.set(name, value);
    return value;
  };
}
