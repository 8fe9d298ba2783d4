// Ids, cursors and keys from earlier responses. Later requests use them, so that they reach resources that are
// ended, paused or revoked. The pool also knows the owner of each id, to detect leaks between apps.
import type { Chance } from '../sim/chance.ts';

export type Kind = 'sub' | 'evt' | 'dlv' | 'rpl' | 'key' | 'app';

/** Keeps the newest ids: most older resources have ended, and a few of those are enough. */
const keptMax = 120;

export class Pool {
  #ids = new Map<string, string[]>();
  #owners = new Map<string, string>();
  #texts = new Map<string, string[]>();

  /** An id belongs to the app whose response contained it first. */
  learn(kind: Kind, app: string, id: string): void {
    keep(this.#ids, `${kind} ${app}`, id);
  }

  /** Values without an owner: cursors of an operation, secrets of keys, tickets, ETags. */
  learnText(kind: string, text: string): void {
    keep(this.#texts, kind, text);
  }

  text(kind: string, chance: Chance): string | undefined {
    const known = this.#texts.get(kind) ?? [];
    return known.length === 0 ? undefined : chance.pick(known);
  }

  id(kind: Kind, app: string, chance: Chance): string | undefined {
    const known = this.#ids.get(`${kind} ${app}`) ?? [];
    if (known.length === 0) return undefined;
    // Prefer the newest: many others have ended.
    return chance.isLucky(0.5) ? known.at(-1) : chance.pick(known);
  }

  /** An id of another app. */
  foreign(kind: Kind, app: string, chance: Chance): string | undefined {
    const others = [...this.#ids].filter(
      ([name]) => name.startsWith(`${kind} `) && name !== `${kind} ${app}`,
    );
    return others.length === 0 ? undefined : chance.pick(chance.pick(others)[1]);
  }

  ownerOf(id: string): string | undefined {
    return this.#owners.get(bare(id));
  }

  own(id: string, app: string): void {
    this.#owners.set(bare(id), app);
  }
}

/** A delivery has the same owner as its event. */
function bare(id: string): string {
  return id.replace(/^dlv_(\w{26})_.*$/, 'evt_$1');
}

function keep(all: Map<string, string[]>, name: string, value: string): void {
  const known = all.get(name) ?? [];
  if (known.includes(value)) return;
  known.push(value);
  if (known.length > keptMax) known.shift();
  all.set(name, known);
}

/** All ids in a text; of keys, only the public part. */
export function idsIn(text: string): string[] {
  return (
    text.match(
      /\b(?:(?:sub|evt|rpl|app)_[0-9a-z]{26}|dlv_[0-9a-z]{26}_\d+|rbk_[0-9A-Za-z]{8})\b/g,
    ) ?? []
  );
}

const kinds: readonly Kind[] = ['sub', 'evt', 'dlv', 'rpl', 'app'];

export function kindOf(id: string): Kind {
  return kinds.find((kind) => id.startsWith(`${kind}_`)) ?? 'key';
}

const crockford = '0123456789abcdefghjkmnpqrstvwxyz';

/** A well-formed id that does not exist. */
export function strangeId(kind: Kind, chance: Chance): string {
  const chars = (count: number): string =>
    Array.from({ length: count }, () => chance.pick(Array.from(crockford))).join('');
  if (kind === 'key') return `rbk_${chars(8)}`;
  return kind === 'dlv' ? `dlv_0${chars(25)}_${chance.whole(0, 9)}` : `${kind}_0${chars(25)}`;
}
