// A value that is available at once when cached, and a promise otherwise. An await costs a frame, a
// promise and a microtask even when the value is available; on the publish path that was a
// measurable part of all allocation.

export type MaybePromise<T> = T | Promise<T>;

/** Applies `use` at once to an available value; an exception of `use` is then thrown here. */
export function followed<T, U>(
  soon: MaybePromise<T>,
  use: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return soon instanceof Promise ? soon.then(use) : use(soon);
}

/** Returns at once if all values are available. */
export function together<T>(all: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> {
  return all.every(isThere) ? all : Promise.all(all);
}

function isThere<T>(soon: MaybePromise<T>): soon is T {
  return !(soon instanceof Promise);
}
