// The signing secret, or the public key of one that signs with a pair: shown only when asked for, with the
// one it replaced while that still signs.
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
import { DrawerSection } from '../components/drawer-section.tsx';
import { Time } from '../components/time.tsx';
import type { Secret, Subscription } from '../../../src/client/contract/subscription.ts';
import { subscriptionPath } from './actions.tsx';

/** One secret of the pair. With a public key, `secret` is the public key too. */
type OneSecret = Pick<Secret, 'secret' | 'publicKey'>;

type Words = { readonly title: string; readonly noun: string; readonly shown: string };

const secretWords: Words = { title: 'Signing secret', noun: 'secret', shown: 'secret' };
const pairWords: Words = { title: 'Signing key', noun: 'key', shown: 'public key' };

export function SecretPart({ subscription }: { subscription: Subscription }): JSX.Element {
  const { id, signing } = subscription;
  const words = signing === 'ed25519' ? pairWords : secretWords;
  const pair = useSignal<Secret | undefined>(undefined);
  const isRotating = useSignal(false);
  const read = useAction(async () => {
    pair.value = await get<Secret>(`${subscriptionPath(id)}/secret`);
  });
  return (
    <DrawerSection
      title={words.title}
      actions={
        <span class="cluster">
          {pair.value === undefined ? (
            <Button size="small" isBusy={read.isBusy} onClick={read.run}>
              Show {words.shown}
            </Button>
          ) : (
            <Button size="small" onClick={() => (pair.value = undefined)}>
              Hide {words.shown}
            </Button>
          )}
          <Button size="small" icon="replay" onClick={() => (isRotating.value = true)}>
            Rotate {words.noun}
          </Button>
        </span>
      }
    >
      {pair.value === undefined ? (
        <p class="soft">
          {signing === 'ed25519'
            ? 'Receivers verify with its public half that a callback came from here.'
            : 'Receivers verify with it that a callback came from here. It is hidden.'}
        </p>
      ) : (
        <Secrets pair={pair.value} />
      )}
      {isRotating.value ? (
        <RotateDialog
          id={id}
          words={words}
          onRotate={(rotated) => (pair.value = rotated)}
          onClose={() => (isRotating.value = false)}
        />
      ) : null}
    </DrawerSection>
  );
}

function Secrets({ pair }: { pair: Secret }): JSX.Element {
  const { previous } = pair;
  const isOver = previous === undefined || Date.parse(previous.expiresAt) <= clock.value;
  return (
    <>
      <ShownCode shown={pair} />
      {isOver ? null : (
        <div class="old-secret">
          <p>
            The old {nounOf(previous)} still signs too, and ends{' '}
            <b>
              <Time at={previous.expiresAt} as="countdown" />
            </b>
            .
          </p>
          <ShownCode shown={previous} which="old " />
        </div>
      )}
    </>
  );
}

function ShownCode({ shown, which = '' }: { shown: OneSecret; which?: string }): JSX.Element {
  const { secret, publicKey } = shown;
  const what = publicKey === undefined ? 'signing secret' : 'public key';
  return <Code text={publicKey ?? secret} label={`${which}${what}`} />;
}

function nounOf({ publicKey }: OneSecret): string {
  return publicKey === undefined ? 'secret' : 'key';
}

const overlaps = [
  { value: '86400', text: '24 more hours' },
  { value: '3600', text: '1 more hour' },
  { value: '604800', text: '7 more days' },
  { value: '0', text: 'Not at all: it ends now' },
];

function RotateDialog({
  id,
  words,
  onRotate,
  onClose,
}: {
  readonly id: string;
  readonly words: Words;
  readonly onRotate: (rotated: Secret) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const overlap = useSignal('86400');
  const rotated = useSignal<Secret | undefined>(undefined);
  const act = useAction(
    async () => {
      const body = { overlapSeconds: Number(overlap.value) };
      const path = `${subscriptionPath(id)}/secret/rotate`;
      rotated.value = await send<Secret>('POST', path, { body });
      onRotate(rotated.value);
    },
    { quiet: true },
  );
  if (rotated.value !== undefined) return <Rotated pair={rotated.value} onClose={onClose} />;
  const actions = (
    <>
      <Button onClick={onClose}>Keep as it is</Button>
      <Button kind="primary" isBusy={act.isBusy} onClick={act.run}>
        Rotate {words.noun}
      </Button>
    </>
  );
  return (
    <Dialog title={`Rotate the ${words.noun}?`} onClose={onClose} actions={actions}>
      <p>
        A new {words.noun} signs from now on. Give {words === pairWords ? 'its public half' : 'it'}{' '}
        to the receiver while the old one still signs too: no callback is refused meanwhile. One
        that was replaced earlier ends now.
      </p>
      <Select
        label={`How long the old ${words.noun} still signs`}
        value={overlap.value}
        options={overlaps}
        onChange={(value) => (overlap.value = value)}
      />
      {overlap.value === '0' ? (
        <Notice tone="warn">
          <p>Until the receiver has the new {words.noun}, it refuses what is sent.</p>
        </Notice>
      ) : null}
      {act.problem === undefined ? null : <ProblemNotice problem={act.problem} />}
    </Dialog>
  );
}

function Rotated({ pair, onClose }: { pair: Secret; onClose: () => void }): JSX.Element {
  const { previous } = pair;
  const noun = nounOf(pair);
  const done = (
    <Button kind="primary" onClick={onClose}>
      Done
    </Button>
  );
  return (
    <Dialog title={`The new ${noun}`} onClose={onClose} actions={done}>
      <ShownCode shown={pair} which="new " />
      <p role="status">
        {previous === undefined
          ? `The old ${noun} ended. Give the new one to the receiver now.`
          : `Give it to the receiver. The old ${nounOf(previous)} still signs too.`}
      </p>
      {/* Not in the status: a reader would be told every second. */}
      {previous === undefined ? null : (
        <p>
          The old {nounOf(previous)} ends{' '}
          <b>
            <Time at={previous.expiresAt} as="countdown" />
          </b>
          .
        </p>
      )}
    </Dialog>
  );
}
