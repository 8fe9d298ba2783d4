// Rotates the secret of a key, with an overlap for the old one.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useAction } from '../action.ts';
import { send } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Select } from '../components/field.tsx';
import { Notice, ProblemNotice } from '../components/notice.tsx';
import { Time } from '../components/time.tsx';
import { signIn } from '../session.ts';
import type { Key, KeyOnce } from '../../../src/client/contract/access.ts';
import { isCurrent, overlapEnd } from './columns.tsx';
import { keyPath } from './key-path.ts';
import { SecretOnce } from './secret-once.tsx';

const overlaps = [
  { value: '86400', text: '24 hours' },
  { value: '3600', text: '1 hour' },
  { value: '604800', text: '7 days' },
  { value: '0', text: 'No overlap' },
];

export function RotateButton({
  apiKey,
  onChange,
}: {
  readonly apiKey: Key;
  readonly onChange: (changed: Key) => void;
}): JSX.Element {
  const isOpen = useSignal(false);
  const rotated = useSignal<KeyOnce | undefined>(undefined);
  const close = (): void => {
    isOpen.value = false;
    rotated.value = undefined;
  };
  return (
    <>
      <Button icon="replay" onClick={() => (isOpen.value = true)}>
        Rotate
      </Button>
      {isOpen.value && rotated.value === undefined ? (
        <RotateDialog
          apiKey={apiKey}
          onRotated={({ key, ...changed }) => {
            rotated.value = { ...changed, key };
            onChange(changed);
          }}
          onClose={close}
        />
      ) : null}
      {rotated.value === undefined ? null : <Rotated rotated={rotated.value} onClose={close} />}
    </>
  );
}

function RotateDialog({
  apiKey,
  onRotated,
  onClose,
}: {
  readonly apiKey: Key;
  readonly onRotated: (rotated: KeyOnce) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const overlap = useSignal('86400');
  const isCurrentKey = isCurrent(apiKey);
  const act = useAction(
    async () => {
      const body = { overlapSeconds: Number(overlap.value) };
      const rotated = await send<KeyOnce>('POST', `${keyPath(apiKey.id)}/rotate`, { body });
      onRotated(rotated);
      // The session ended with its secret. Sign in again, so that the page stays until the new
      // secret was copied.
      if (isCurrentKey && overlap.value === '0') await signIn({ key: rotated.key });
    },
    { quiet: true },
  );
  const actions = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button kind="primary" isBusy={act.isBusy} onClick={act.run}>
        Rotate key
      </Button>
    </>
  );
  return (
    <Dialog title="Rotate this key?" onClose={onClose} actions={actions}>
      <p>
        The key gets a new secret that is valid immediately. The old secret stays valid until the
        overlap ends, so that clients can switch without interruption. A secret from an earlier
        rotation expires now.
      </p>
      <Select
        label="Overlap with the old secret"
        value={overlap.value}
        options={overlaps}
        onChange={(value) => (overlap.value = value)}
      />
      {overlap.value === '0' ? (
        <Notice tone="warn">
          <p>
            Requests with the old secret are refused immediately, and console sessions opened with
            it end.
          </p>
        </Notice>
      ) : null}
      {isCurrentKey ? (
        <Notice tone="warn" title="You are signed in with this key">
          <p>
            {overlap.value === '0'
              ? 'This browser is signed in again with the new secret. Store it: you need it for the next sign-in.'
              : 'You stay signed in only until the old secret expires. Store the new one: you need it for the next sign-in.'}
          </p>
        </Notice>
      ) : null}
      {act.problem === undefined ? null : <ProblemNotice problem={act.problem} />}
    </Dialog>
  );
}

function Rotated({ rotated, onClose }: { rotated: KeyOnce; onClose: () => void }): JSX.Element {
  const until = overlapEnd(rotated);
  return (
    <SecretOnce title="New secret" secret={rotated.key} onClose={onClose}>
      <p role="status">
        {until === undefined ? 'The old secret has expired.' : 'The old secret is still valid.'}
      </p>
      {/* Outside the status region: a screen reader would announce it every second. */}
      {until === undefined ? null : (
        <p>
          It expires{' '}
          <b>
            <Time at={until} as="countdown" />
          </b>
          .
        </p>
      )}
    </SecretOnce>
  );
}
