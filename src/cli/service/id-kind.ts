// Ids say what they name. An id of the wrong kind is refused before any call, with the expected
// kind and the command for the one that was given.
import { calledWrongly } from '../terminal/failure.ts';

const kinds = {
  sub: { name: 'a subscription', shape: /^sub_[0-9a-z]{26}$/, look: 'subscriptions' },
  evt: { name: 'an event', shape: /^evt_[0-9a-z]{26}$/, look: 'events' },
  dlv: { name: 'a delivery', shape: /^dlv_[0-9a-z]{26}_\d+$/, look: 'deliveries' },
  rpl: { name: 'a replay', shape: /^rpl_[0-9a-z]{26}$/, look: 'replay show' },
} as const;

export type IdKind = keyof typeof kinds;

/** Returns the id; `doing` is the verb of the error: `show`. */
export function expectId(kind: IdKind, text: string, doing: string): string {
  const { name, shape } = kinds[kind];
  if (shape.test(text)) return text;
  const other = Object.values(kinds).find((one) => one.shape.test(text));
  const hint =
    other === undefined ? '' : `. This is ${other.name}:\n  ringback ${other.look} ${text}`;
  throw calledWrongly(`Cannot ${doing} "${text}": expected ${name}, ${kind}_…${hint}`);
}
