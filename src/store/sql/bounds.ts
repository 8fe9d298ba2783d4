// A range between two values.

/** Both ends are included. */
export type Bounds<T> = readonly [least: T, most: T];
