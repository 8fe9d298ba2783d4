// Small choices of the reader, kept in this browser. A browser that keeps nothing is no failure.
export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(`ringback.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function writeStored(name: string, value: string): void {
  try {
    localStorage.setItem(`ringback.${name}`, value);
  } catch {
    // Storage is full or forbidden: the choice lasts as long as the page.
  }
}

/** Calls back when another tab has written it; what this one writes is not told. */
export function onStored(name: string, listener: (value: string | undefined) => void): void {
  addEventListener('storage', ({ key }) => {
    // Read anew: by now there may be a newer one than the event tells.
    if (key === `ringback.${name}`) listener(readStored(name));
  });
}
