// The signing secret, or the public key of a key pair: hidden until requested, with the previous
// one while that is still used for signing.
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

/** One of the two secrets. With a key pair, `secret` equals `publicKey`. */
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
            ? 'Receivers verify signatures with the public key.'
            : 'Receivers verify signatures with this secret. It is hidden.'}
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
            The old {nounOf(previous)} is also used for signing. It expires{' '}
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
  { value: '86400', text: '24 hours' },
  { value: '3600', text: '1 hour' },
  { value: '604800', text: '7 days' },
  { value: '0', text: 'No overlap' },
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
      <Button onClick={onClose}>Cancel</Button>
      <Button kind="primary" isBusy={act.isBusy} onClick={act.run}>
        Rotate {words.noun}
      </Button>
    </>
  );
  return (
    <Dialog title={`Rotate ${words.noun}?`} onClose={onClose} actions={actions}>
      <p>
        Callbacks are signed with a new {words.noun} from now on, and with the old one until the
        overlap ends. Configure the receiver with the new {words.shown} in that time, so that it
        rejects no callback. A {words.noun} from an earlier rotation expires now.
      </p>
      <Select
        label={`Overlap with the old ${words.noun}`}
        value={overlap.value}
        options={overlaps}
        onChange={(value) => (overlap.value = value)}
      />
      {overlap.value === '0' ? (
        <Notice tone="warn">
          <p>The receiver rejects all callbacks until it has the new {words.shown}.</p>
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
    <Dialog title={`New ${noun}`} onClose={onClose} actions={done}>
      <ShownCode shown={pair} which="new " />
      <p role="status">
        {previous === undefined
          ? `The old ${noun} is no longer used. Configure the receiver with the new one now.`
          : `Configure the receiver with it. The old ${nounOf(previous)} is also used for signing.`}
      </p>
      {/* Outside the status region: a screen reader would announce it every second. */}
      {previous === undefined ? null : (
        <p>
          The old {nounOf(previous)} expires{' '}
          <b>
            <Time at={previous.expiresAt} as="countdown" />
          </b>
          .
        </p>
      )}
    </Dialog>
  );
}
