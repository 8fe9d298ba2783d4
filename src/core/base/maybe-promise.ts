// A value that is available at once when cached, and a promise otherwise. An await costs a frame, a
// promise and a microtask even when the value is available; on the publish path that was a
// measurable part of all allocation.

export type MaybePromise<T> = T | Promise<T>;

/** Applies `use` at once to an available value; an exception of `use` is then thrown here. */
export function whenReady<T, U>(
  value: MaybePromise<T>,
  use: (ready: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** Returns at once if all values are available. */
export function allReady<T>(all: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> {
  return all.every(isThere) ? all : Promise.all(all);
}

function isThere<T>(value: MaybePromise<T>): value is T {
  return !(value instanceof Promise);
}
