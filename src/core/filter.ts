// Payload filters: which events of those that a subscription hears are meant for it. Every rule must
// hold. Pure, and total: a payload of any shape either fits or does not.

/** By JSON pointer (RFC 6901): the values of which the payload has one there. */
export type Filter = Readonly<Record<string, readonly FilterValue[]>>;

export type FilterValue = string | number | boolean | null;
