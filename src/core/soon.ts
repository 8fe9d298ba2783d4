// What is there at once when it is remembered, and has to be waited for otherwise. An await costs a frame, a promise
// and a turn of the queue even where nothing is waited for: in the way of a publish ten of them were a tenth of all
// that it allocated.

export type Soon<T> = T | Promise<T>;

/** At once, if it is there at once; then what `use` throws is thrown here. */
export function followed<T, U>(soon: Soon<T>, use: (value: T) => Soon<U>): Soon<U> {
  return soon instanceof Promise ? soon.then(use) : use(soon);
}

/** At once, if all are there at once. */
export function together<T>(all: readonly Soon<T>[]): Soon<readonly T[]> {
  return all.every(isThere) ? all : Promise.all(all);
}

function isThere<T>(soon: Soon<T>): soon is T {
  return !(soon instanceof Promise);
}
