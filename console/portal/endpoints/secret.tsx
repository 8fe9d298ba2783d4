// The signing secret of an endpoint: hidden until it is asked for, rotated with an overlap, with code that verifies it.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Secret, Subscription } from '../../../src/client/contract/subscription.ts';
import { useAction } from '../../src/action.ts';
import { get, send } from '../../src/api.ts';
import { clock } from '../../src/clock.ts';
import { Button } from '../../src/components/button.tsx';
import { Code } from '../../src/components/code.tsx';
import { Dialog } from '../../src/components/dialog.tsx';
import { Select } from '../../src/components/field.tsx';
import { Notice, ProblemNotice } from '../../src/components/notice.tsx';
import { Section } from '../../src/components/page.tsx';
import { Time } from '../../src/components/time.tsx';
import { toastSuccess } from '../../src/toasts.ts';
import { words } from '../../src/words.ts';
import { t } from '../language.ts';
import { Snippets } from '../verify/snippets.tsx';
import { created } from './created.ts';
import { nameOf } from './endpoint-texts.ts';
import { endpointPath } from './read-endpoints.ts';

export function SecretSection({ endpoint }: { readonly endpoint: Subscription }): JSX.Element {
  const { id, signing } = endpoint;
  const say = t().secret;
  const isPair = signing === 'ed25519';
  const shown = useSignal<Secret | undefined>(secretOf(id));
  const isRotating = useSignal(false);
  const read = useAction(async () => {
    shown.value = await get<Secret>(`${endpointPath(id)}/secret`);
  });
  return (
    <Section
      title={isPair ? say.keyTitle : say.title}
      actions={
        <span class="cluster">
          {shown.value === undefined ? (
            <Button size="small" icon="key" isBusy={read.isBusy} onClick={read.run}>
              {isPair ? say.revealKey : say.reveal}
            </Button>
          ) : (
            <Button size="small" onClick={() => (shown.value = undefined)}>
              {say.hide}
            </Button>
          )}
          <Button size="small" icon="replay" onClick={() => (isRotating.value = true)}>
            {say.rotate}
          </Button>
        </span>
      }
    >
      <div class="stack">
        {shown.value === undefined ? (
          <p class="soft">{isPair ? say.hiddenKey : say.hidden}</p>
        ) : (
          <Secrets pair={shown.value} />
        )}
        <Snippets signing={isPair ? 'ed25519' : 'hmac'} url={nameOf(endpoint)} />
      </div>
      {isRotating.value ? (
        <RotateDialog
          id={id}
          onRotated={(rotated) => {
            shown.value = rotated;
            isRotating.value = false;
          }}
          onClose={() => (isRotating.value = false)}
        />
      ) : null}
    </Section>
  );
}

/** That of an endpoint that was just added, whose owner needs it now. */
function secretOf(id: string): Secret | undefined {
  const made = created.peek();
  return made?.id === id ? { secret: made.secret } : undefined;
}

function Secrets({ pair }: { pair: Secret }): JSX.Element {
  const { secret, publicKey, previous } = pair;
  const say = t().secret;
  const isOver = previous === undefined || Date.parse(previous.expiresAt) <= clock.value;
  return (
    <>
      <Code text={publicKey ?? secret} label={say.secret} />
      {isOver ? null : (
        <>
          <p>
            {say.old} <Time at={previous.expiresAt} as="exact" />.
          </p>
          <Code text={previous.publicKey ?? previous.secret} label={say.oldSecret} />
        </>
      )}
    </>
  );
}

function RotateDialog({
  id,
  onRotated,
  onClose,
}: {
  readonly id: string;
  readonly onRotated: (rotated: Secret) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const say = t().secret;
  const overlap = useSignal('86400');
  const act = useAction(
    async () => {
      const body = { overlapSeconds: Number(overlap.value) };
      const rotated = await send<Secret>('POST', `${endpointPath(id)}/secret/rotate`, { body });
      onRotated(rotated);
      toastSuccess(say.rotated);
    },
    { quiet: true },
  );
  const actions = (
    <>
      <Button onClick={onClose}>{words().cancel}</Button>
      <Button kind="primary" isBusy={act.isBusy} onClick={act.run}>
        {say.rotate}
      </Button>
    </>
  );
  return (
    <Dialog title={say.rotateTitle} onClose={onClose} actions={actions}>
      <p>{say.rotateText}</p>
      <Select
        label={say.overlap}
        value={overlap.value}
        options={overlaps.map((value) => ({ value, text: say.overlaps[value] }))}
        onChange={(value) => (overlap.value = value)}
      />
      {overlap.value === '0' ? (
        <Notice tone="warn">
          <p>{say.noOverlap}</p>
        </Notice>
      ) : null}
      {act.problem === undefined ? null : <ProblemNotice problem={act.problem} />}
    </Dialog>
  );
}

const overlaps = ['86400', '3600', '604800', '0'] as const;
