// Replaces the secret of a key; the old one works on for a while.
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
import type { Key, KeyOnce } from '../../../src/client/contract/key.ts';
import { isOwn, overlapOf } from './columns.tsx';
import { keyPath } from './key-path.ts';
import { SecretOnce } from './secret-once.tsx';

const overlaps = [
  { value: '86400', text: '24 more hours' },
  { value: '3600', text: '1 more hour' },
  { value: '604800', text: '7 more days' },
  { value: '0', text: 'Not at all: it ends now' },
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
  const isMine = isOwn(apiKey);
  const act = useAction(
    async () => {
      const body = { overlapSeconds: Number(overlap.value) };
      const rotated = await send<KeyOnce>('POST', `${keyPath(apiKey.id)}/rotate`, { body });
      onRotated(rotated);
      // The session has ended with its secret; the page must not go before the new one was read.
      if (isMine && overlap.value === '0') await signIn({ key: rotated.key });
    },
    { quiet: true },
  );
  const actions = (
    <>
      <Button onClick={onClose}>Keep as it is</Button>
      <Button kind="primary" isBusy={act.isBusy} onClick={act.run}>
        Rotate key
      </Button>
    </>
  );
  return (
    <Dialog title="Rotate this key?" onClose={onClose} actions={actions}>
      <p>
        It gets a new secret, which works at once. The old one works on for a while, so that nothing
        stops before all who use it have the new one. One that was replaced earlier ends now.
      </p>
      <Select
        label="How long the old secret still works"
        value={overlap.value}
        options={overlaps}
        onChange={(value) => (overlap.value = value)}
      />
      {overlap.value === '0' ? (
        <Notice tone="warn">
          <p>
            Whoever still uses the old one is refused from that moment, and whoever signed in with
            it is signed out.
          </p>
        </Notice>
      ) : null}
      {isMine ? (
        <Notice tone="warn" title="You are signed in with this key">
          <p>
            {overlap.value === '0'
              ? 'This browser is signed in anew, with the new secret. Keep it, to come back.'
              : 'You stay signed in only as long as the old secret works. Keep the new one, to come back.'}
          </p>
        </Notice>
      ) : null}
      {act.problem === undefined ? null : <ProblemNotice problem={act.problem} />}
    </Dialog>
  );
}

function Rotated({ rotated, onClose }: { rotated: KeyOnce; onClose: () => void }): JSX.Element {
  const until = overlapOf(rotated);
  return (
    <SecretOnce title="The new secret" secret={rotated.key} onClose={onClose}>
      <p role="status">
        {until === undefined ? 'The old one has ended.' : 'The old one still works for a while.'}
      </p>
      {/* Not in the status: a reader would be told every second. */}
      {until === undefined ? null : (
        <p>
          It ends{' '}
          <b>
            <Time at={until} as="countdown" />
          </b>
          .
        </p>
      )}
    </SecretOnce>
  );
}
