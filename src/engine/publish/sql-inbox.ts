// Takes events from the inbox, which were published by SQL in the publisher's own transaction. No API
// has checked them, so the rules of every publish are applied here: a valid event is published in
// the transaction that removes it from the inbox, and an invalid one is kept with the reason. The SQL
// function ringback.publish, which writes the inbox, is in migrations/postgres/0033_sql_subject_customer.sql.
import { readOpaqueJson } from '../../core/base/json.ts';
import type { World } from '../../core/base/world.ts';
import { limits } from '../../core/limits/limits.ts';
import type { InboxEntry, NewEvent } from '../../store/port/delivery-verbs.ts';
import type { Store } from '../../store/port/store.ts';
import type { AppQuotas } from '../admission/quotas.ts';
import type { ConfirmDeps } from './confirm.ts';
import { lacksSubjectOf, largeFault, publishConfirming, rulesFor } from './publish.ts';
import { validateEvents, type PublishRules } from './validate-events.ts';

export interface SqlInboxDeps extends ConfirmDeps {
  world: Pick<World, 'sleep'>;
  store: Pick<Store, 'edit' | 'pollMs'>;
  quotas: Pick<AppQuotas, 'of'>;
  rules: PublishRules;
  onError: (error: unknown) => void;
}

export class SqlInbox {
  readonly #deps: SqlInboxDeps;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  constructor(deps: SqlInboxDeps) {
    this.#deps = deps;
    this.#done = this.#runLoop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #runLoop(): Promise<void> {
    const { world, store, onError } = this.#deps;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const taken = await this.#round().catch((error: unknown) => {
        onError(error);
        return 0;
      });
      if (taken > 0) continue;
      await world.sleep(store.pollMs, signal).catch(() => undefined); // Stopped.
    }
  }

  /**
   * Returns how many entries it has handled. Entries whose edit failed stay in the inbox and are
   * taken again when their hold expires. Many failures are likely to have one cause, so only the
   * first is reported.
   */
  async #round(): Promise<number> {
    const { store, onError } = this.#deps;
    const hold = { limit: limits.inboxEntriesMax, forMs: limits.inboxHoldMs };
    const { entries } = await store.edit('takeInbox', hold);
    let dealt = 0;
    for (const group of groupsOf(entries)) {
      if (this.#stop.signal.aborted) break;
      const results = await Promise.allSettled(
        group.map(async (entry) => this.#publishEntries(entry)),
      );
      const failure = results.find((result) => result.status === 'rejected');
      if (failure !== undefined) onError(failure.reason);
      dealt += results.filter(({ status }) => status === 'fulfilled').length;
    }
    return dealt;
  }

  /** `taken`, from either edit: another node has handled it, which is fine. */
  async #publishEntries(entry: InboxEntry): Promise<void> {
    const { store, quotas, rules, changes } = this.#deps;
    const { no, id, appNo, name, subject, customer, payload } = entry;
    const applied = await rulesFor(rules, { no: appNo }, [entry]);
    const validation = validateEntry(applied, entry, quotas.of(entry).payloadBytes);
    if (validation.kind === 'rejected') {
      await store.edit('rejectInbox', { no, reason: validation.reason });
      return;
    }
    const result = await publishConfirming(this.#deps, {
      appNo,
      contract: validation.contract,
      events: [{ id, name, subject, customer, payload, skipped: validation.skipped }],
      audience: { kind: 'everyone' },
      idempotency: undefined,
      inbox: no,
    });
    if (result.kind === 'subject_missing') {
      await store.edit('rejectInbox', { no, reason: lacksSubjectOf(name) });
    } else if (result.kind === 'accepted') changes.published(appNo, result.events);
    else if (result.kind !== 'taken') {
      throw new Error(
        `Cannot take event "${id}" from the inbox: the store returned "${result.kind}"`,
      );
    }
  }
}

export type EntryValidation =
  /** The title of its contract. */
  | { kind: 'fit'; contract: string; skipped: NewEvent['skipped'] }
  | { kind: 'rejected'; reason: string };

/** The reason is worded as a publisher over HTTP would get it. */
export function validateEntry(
  rules: PublishRules,
  { name, subject, customer, payload }: Omit<InboxEntry, 'no' | 'id' | 'appNo' | 'quotas'>,
  bytesMax?: number,
): EntryValidation {
  if (payload.byteLength > limits.bodyBytesMax) {
    const most = `expected at most ${limits.bodyBytesMax}`;
    return { kind: 'rejected', reason: `The payload has ${payload.byteLength} bytes, ${most}` };
  }
  if (payload.byteLength > (bytesMax ?? Infinity)) {
    return { kind: 'rejected', reason: `The payload ${largeFault(payload, bytesMax)}` };
  }
  const reading = readOpaqueJson(payload);
  if (reading.kind === 'malformed') {
    return { kind: 'rejected', reason: `Cannot read the payload: it ${reading.message}` };
  }
  const event = { name, subject, customer, value: reading.value, payload, at: 'body#' };
  const validation = validateEvents(rules, [event], undefined);
  if (validation.kind === 'refused') {
    return { kind: 'rejected', reason: validation.problem.message };
  }
  const { contract, skipped } = validation;
  return { kind: 'fit', contract: contract.title, skipped: skipped?.get(event) };
}

/** Groups entries so that those written together fit into one batch. */
export function groupsOf(entries: readonly InboxEntry[]): InboxEntry[][] {
  const groups: InboxEntry[][] = [];
  let bytes = Infinity;
  for (const entry of entries) {
    bytes += entry.payload.byteLength;
    if (bytes > limits.batchPayloadBytesMax) {
      groups.push([]);
      bytes = entry.payload.byteLength;
    }
    groups.at(-1)?.push(entry);
  }
  return groups;
}
