// Small preferences of the user in local storage. Failing to store them is not an error.
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
    // Storage is full or disabled: the preference lasts until the page is closed.
  }
}

/** Calls back when another tab writes the value. Writes of this tab are not reported. */
export function onStored(name: string, listener: (value: string | undefined) => void): void {
  addEventListener('storage', ({ key }) => {
    // Read the current value: it may be newer than the event.
    if (key === `ringback.${name}`) listener(readStored(name));
  });
}
