// From one value up to another.

/** Both ends are among them. */
export type Bounds<T> = readonly [least: T, most: T];
