// The signing secret: shown only when asked for, with the one it replaced while that still signs.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useAction } from '../action.ts';
import { get, send } from '../api.ts';
import { clock } from '../clock.ts';
import { Button } from '../components/button.tsx';
import { Code } from '../components/code.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Select } from '../components/field.tsx';
import { Notice, ProblemNotice } from '../components/notice.tsx';
import { Part } from '../components/part.tsx';
import { Time } from '../components/time.tsx';
import type { SecretPair } from '../shapes.ts';
import { subscriptionPath } from './acts.tsx';

export function SecretPart({ id }: { id: string }): JSX.Element {
  const pair = useSignal<SecretPair | undefined>(undefined);
  const isRotating = useSignal(false);
  const read = useAction(async () => {
    pair.value = await get<SecretPair>(`${subscriptionPath(id)}/secret`);
  });
  return (
    <Part
      title="Signing secret"
      aside={
        <span class="cluster">
          {pair.value === undefined ? (
            <Button size="small" isBusy={read.isBusy} onClick={read.run}>
              Show secret
            </Button>
          ) : (
            <Button size="small" onClick={() => (pair.value = undefined)}>
              Hide secret
            </Button>
          )}
          <Button size="small" icon="replay" onClick={() => (isRotating.value = true)}>
            Rotate secret
          </Button>
        </span>
      }
    >
      {pair.value === undefined ? (
        <p class="soft">Receivers verify with it that a callback came from here. It is hidden.</p>
      ) : (
        <Secrets pair={pair.value} />
      )}
      {isRotating.value ? (
        <RotateDialog
          id={id}
          onRotate={(rotated) => (pair.value = rotated)}
          onClose={() => (isRotating.value = false)}
        />
      ) : null}
    </Part>
  );
}

function Secrets({ pair }: { pair: SecretPair }): JSX.Element {
  const { secret, previous } = pair;
  const isOver = previous === undefined || Date.parse(previous.expiresAt) <= clock.value;
  return (
    <>
      <Code text={secret} label="signing secret" />
      {isOver ? null : (
        <div class="old-secret">
          <p>
            The old secret still signs too, and ends{' '}
            <b>
              <Time at={previous.expiresAt} as="countdown" />
            </b>
            .
          </p>
          <Code text={previous.secret} label="old signing secret" />
        </div>
      )}
    </>
  );
}

const overlaps = [
  { value: '86400', text: '24 more hours' },
  { value: '3600', text: '1 more hour' },
  { value: '604800', text: '7 more days' },
  { value: '0', text: 'Not at all: it ends now' },
];

function RotateDialog({
  id,
  onRotate,
  onClose,
}: {
  readonly id: string;
  readonly onRotate: (rotated: SecretPair) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const overlap = useSignal('86400');
  const rotated = useSignal<SecretPair | undefined>(undefined);
  const act = useAction(
    async () => {
      const body = { overlapSeconds: Number(overlap.value) };
      const path = `${subscriptionPath(id)}/secret/rotate`;
      rotated.value = await send<SecretPair>('POST', path, { body });
      onRotate(rotated.value);
    },
    { quiet: true },
  );
  if (rotated.value !== undefined) return <Rotated pair={rotated.value} onClose={onClose} />;
  const actions = (
    <>
      <Button onClick={onClose}>Keep as it is</Button>
      <Button kind="primary" isBusy={act.isBusy} onClick={act.run}>
        Rotate secret
      </Button>
    </>
  );
  return (
    <Dialog title="Rotate the secret?" onClose={onClose} actions={actions}>
      <p>
        A new secret signs from now on. Give it to the receiver while the old one still signs too:
        no callback is refused meanwhile. One that was replaced earlier ends now.
      </p>
      <Select
        label="How long the old secret still signs"
        value={overlap.value}
        options={overlaps}
        onChange={(value) => (overlap.value = value)}
      />
      {overlap.value === '0' ? (
        <Notice tone="warn">
          <p>Until the receiver has the new secret, it refuses what is sent.</p>
        </Notice>
      ) : null}
      {act.problem === undefined ? null : <ProblemNotice problem={act.problem} />}
    </Dialog>
  );
}

function Rotated({ pair, onClose }: { pair: SecretPair; onClose: () => void }): JSX.Element {
  const { secret, previous } = pair;
  const done = (
    <Button kind="primary" onClick={onClose}>
      Done
    </Button>
  );
  return (
    <Dialog title="The new secret" onClose={onClose} actions={done}>
      <Code text={secret} label="new signing secret" />
      <p role="status">
        {previous === undefined
          ? 'The old secret ended. Give the new one to the receiver now.'
          : 'Give it to the receiver. The old secret still signs too.'}
      </p>
      {/* Not in the status: a reader would be told every second. */}
      {previous === undefined ? null : (
        <p>
          The old secret ends{' '}
          <b>
            <Time at={previous.expiresAt} as="countdown" />
          </b>
          .
        </p>
      )}
    </Dialog>
  );
}
