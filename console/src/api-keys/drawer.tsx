// One key: scopes, validity, and how to rotate or revoke it.
import type { JSX } from 'preact';
import { get } from '../api.ts';
import { Badge } from '../components/badge.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Drawer } from '../components/dialog.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Notice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { Fact, Facts, DrawerSection } from '../components/drawer-section.tsx';
import { Time } from '../components/time.tsx';
import { useLoad } from '../load.ts';
import { can } from '../session.ts';
import type { Key } from '../../../src/client/contract/access.ts';
import { Expires, isCurrent, KeyState, LastUsed, overlapEnd } from './columns.tsx';
import { keyPath } from './key-path.ts';
import { RevokeButton } from './revoke-button.tsx';
import { RotateButton } from './rotate-button.tsx';
import { scopesInOrder, scopeWords } from './scopes.ts';

export function KeyDrawer({
  id,
  onChange,
  onClose,
}: {
  readonly id: string;
  readonly onChange: (changed: Key) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const load = useLoad(id, (signal) => get<Key>(keyPath(id), { signal }));
  const change = (changed: Key): void => {
    load.change(() => changed);
    onChange(changed);
  };
  return (
    <Drawer title="Key" onClose={onClose}>
      <Loaded load={load}>{(apiKey) => <Shown apiKey={apiKey} onChange={change} />}</Loaded>
    </Drawer>
  );
}

function Shown({
  apiKey,
  onChange,
}: {
  apiKey: Key;
  onChange: (changed: Key) => void;
}): JSX.Element {
  const until = overlapEnd(apiKey);
  return (
    <>
      <KeyFacts apiKey={apiKey} />
      {until === undefined ? null : (
        <Notice tone="info" title="Two secrets are valid">
          <p>
            This key was rotated. The old secret expires <Time at={until} as="countdown" />.
          </p>
        </Notice>
      )}
      {apiKey.state === 'revoked' || !apiKey.scopes.every(can) ? null : (
        <div class="cluster">
          <RotateButton apiKey={apiKey} onChange={onChange} />
          <RevokeButton apiKey={apiKey} onChange={onChange} />
        </div>
      )}
      <DrawerSection title="Scopes">
        <Facts>
          {scopesInOrder(apiKey.scopes).map((scope) => (
            <Fact key={scope} name={scope}>
              {scopeWords.find((one) => one.scope === scope)?.hint}
            </Fact>
          ))}
        </Facts>
      </DrawerSection>
    </>
  );
}

function KeyFacts({ apiKey }: { apiKey: Key }): JSX.Element {
  const { id, name, createdAt, revokedAt } = apiKey;
  return (
    <Facts>
      <Fact name="Name">
        <span class="cluster">
          <UntrustedText text={name} />
          {isCurrent(apiKey) ? <Badge tone="info" icon="key" text="Current" /> : null}
        </span>
      </Fact>
      <Fact name="State">
        <KeyState {...apiKey} />
      </Fact>
      <Fact name="Prefix">
        <span class="cluster">
          <span class="mono">{id}…</span>
          <CopyButton text={id} what="ID" isBare />
        </span>
      </Fact>
      <Fact name="Created">
        <Time at={createdAt} />
      </Fact>
      <Fact name="Last used">
        <LastUsed {...apiKey} />
      </Fact>
      <Fact name="Expires">
        <Expires {...apiKey} />
      </Fact>
      {revokedAt === undefined ? null : (
        <Fact name="Revoked">
          <Time at={revokedAt} />
        </Fact>
      )}
    </Facts>
  );
}
