// Shows keys to people and programs. A secret is shown only by the call that created it.
import { isLive, type Key } from '../../core/domain/key.ts';
import type { FreshKey } from '../../engine/access/keys.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { paintState, viewOf } from '../service/view.ts';

export type Done =
  | { kind: 'list'; keys: readonly Key[]; nowMs: number }
  | { kind: 'fresh'; fresh: FreshKey; nowMs: number }
  | { kind: 'revoked'; key: Key; nowMs: number };

export function forPrograms(done: Done): unknown {
  switch (done.kind) {
    case 'list':
      return done.keys.map((one) => factsOf(one, done.nowMs));
    case 'fresh':
      return { ...factsOf(done.fresh.key, done.nowMs), key: done.fresh.secret };
    case 'revoked':
      return factsOf(done.key, done.nowMs);
  }
}

export function forPeople(done: Done, terminal: Terminal): string {
  switch (done.kind) {
    case 'list':
      return done.keys.length === 0
        ? 'No keys. Create one: ringback key create --name NAME --scopes SCOPES\n'
        : keyTable(done.keys, done.nowMs, terminal);
    case 'fresh':
      return `${done.fresh.secret}\nStore this key now: it is shown only once.\n`;
    case 'revoked':
      return `Revoked rbk_${done.key.id}.\n`;
  }
}

/** As in the API, with null for absent members. */
function factsOf(item: Key, nowMs: number): Record<string, unknown> {
  const { id, name, scopes, createdMs, expiresMs, revokedMs, usedMs, oldUntilMs } = item;
  return {
    id: `rbk_${id}`,
    name,
    scopes,
    state: stateOf(item, nowMs),
    createdAt: time(createdMs),
    expiresAt: time(expiresMs),
    revokedAt: time(revokedMs),
    lastUsedAt: time(usedMs),
    oldValidUntil: time(oldUntilMs !== undefined && nowMs < oldUntilMs ? oldUntilMs : undefined),
  };
}

function keyTable(keys: readonly Key[], nowMs: number, terminal: Terminal): string {
  const { paint, table, when } = viewOf(terminal);
  return table<Key>(
    [
      { title: 'ID', show: ({ id }) => `rbk_${id}` },
      {
        title: 'STATE',
        show: (item) => stateOf(item, nowMs),
        paint: (item, text) => paintState(paint, stateOf(item, nowMs), text),
        rank: 9,
      },
      { title: 'SCOPES', show: ({ scopes }) => scopes.join(','), rank: 8, shrinksTo: 14 },
      { title: 'USED', show: ({ usedMs }) => when(time(usedMs)) || 'never', rank: 6 },
      { title: 'NAME', show: ({ name }) => name, rank: 7, shrinksTo: 10 },
    ],
    keys,
  );
}

function stateOf(item: Key, nowMs: number): 'active' | 'expired' | 'revoked' {
  if (isLive(item, nowMs)) return 'active';
  return item.revokedMs === undefined ? 'expired' : 'revoked';
}

function time(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
