// Ids say what they name. One of the wrong kind is a slip of the hand: it is answered before any call, with
// the kind that was expected and the command that knows the other one.
import { calledWrongly } from './failure.ts';

const kinds = {
  sub: { name: 'a subscription', shape: /^sub_[0-9a-z]{26}$/, look: 'subscriptions' },
  evt: { name: 'an event', shape: /^evt_[0-9a-z]{26}$/, look: 'events' },
  dlv: { name: 'a delivery', shape: /^dlv_[0-9a-z]{26}_\d+$/, look: 'deliveries' },
  rpl: { name: 'a replay', shape: /^rpl_[0-9a-z]{26}$/, look: 'replay show' },
} as const;

export type IdKind = keyof typeof kinds;

/** The id itself; `doing` is the verb of the sentence: `show`. */
export function expectId(kind: IdKind, text: string, doing: string): string {
  const { name, shape } = kinds[kind];
  if (shape.test(text)) return text;
  const other = Object.values(kinds).find((one) => one.shape.test(text));
  const hint =
    other === undefined ? '' : `. This is ${other.name}:\n  ringback ${other.look} ${text}`;
  throw calledWrongly(`Cannot ${doing} "${text}": expected ${name}, ${kind}_…${hint}`);
}
