// Aborts all exchanges that belong to a signal. One listener serves all of them, because a signal
// searches its whole list whenever a listener is added or removed.

export interface Recalled {
  abort(): void;
}

interface Group {
  members: Set<Recalled>;
  onAbort: () => void;
}

export class Recall {
  readonly #groups = new WeakMap<AbortSignal, Group>();

  add(signal: AbortSignal, member: Recalled): void {
    const group = this.#groups.get(signal) ?? this.#listen(signal);
    group.members.add(member);
  }

  /** Removes the listener from the signal with the last member. */
  remove(signal: AbortSignal, member: Recalled): void {
    const group = this.#groups.get(signal);
    if (group?.members.delete(member) !== true || group.members.size > 0) return;
    signal.removeEventListener('abort', group.onAbort);
    this.#groups.delete(signal);
  }

  #listen(signal: AbortSignal): Group {
    const members = new Set<Recalled>();
    const onAbort = (): void => {
      for (const member of members) member.abort();
    };
    const group = { members, onAbort };
    this.#groups.set(signal, group);
    signal.addEventListener('abort', onAbort);
    return group;
  }
}
