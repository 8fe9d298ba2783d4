// The columns of the keys table.
import type { JSX } from 'preact';
import { clock } from '../clock.ts';
import { Badge, StateBadge } from '../components/badge.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import type { Column } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { hrefWith } from '../router.ts';
import { session } from '../session.ts';
import type { Key } from '../../../src/client/contract/access.ts';
import { scopesInOrder } from './scopes.ts';

export function keyHref({ id }: Key): string {
  return hrefWith({ key: id });
}

/** Whether this session was opened with the key. */
export function isCurrent({ id }: Pick<Key, 'id'>): boolean {
  return session.value?.keyId === id;
}

export const keyColumns: readonly Column<Key>[] = [
  { name: 'name', title: 'Name', cell: Name, isWide: true, isHead: true },
  { name: 'prefix', title: 'Prefix', cell: ({ id }) => <span class="mono id">{id}…</span> },
  { name: 'scopes', title: 'Scopes', cell: ({ scopes }) => scopesInOrder(scopes).join(', ') },
  { name: 'used', title: 'Last used', cell: LastUsed },
  { name: 'expires', title: 'Expires', cell: Expires },
  { name: 'state', title: 'State', cell: KeyState },
];

function Name(key: Key): JSX.Element {
  return (
    <span class="key-name">
      <a href={keyHref(key)} data-row>
        <UntrustedText text={key.name} clip />
      </a>
      {isCurrent(key) ? <Badge tone="info" icon="key" text="Current" /> : null}
    </span>
  );
}

export function LastUsed({ lastUsedAt }: Key): JSX.Element {
  return lastUsedAt === undefined ? <span class="soft">Never</span> : <Time at={lastUsedAt} />;
}

export function Expires({ expiresAt }: Key): JSX.Element {
  return expiresAt === undefined ? <span class="soft">Never</span> : <Time at={expiresAt} />;
}

export function KeyState(key: Key): JSX.Element {
  const old = overlapEnd(key);
  return (
    <span class="cluster">
      <StateBadge state={key.state} />
      {old === undefined ? null : (
        <span class="soft key-overlap">
          old secret expires <Time at={old} as="countdown" />
        </span>
      )}
    </span>
  );
}

/** When the previous secret expires; undefined if it has. */
export function overlapEnd({ state, oldValidUntil }: Key): string | undefined {
  if (state !== 'active' || oldValidUntil === undefined) return undefined;
  return Date.parse(oldValidUntil) > clock.value ? oldValidUntil : undefined;
}
