// Actions on a subscription. Actions that the key may not perform are not offered.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useAction } from '../action.ts';
import { get, send, withQuery } from '../api.ts';
import { nowMs } from '../clock.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { ProblemNotice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { limits } from '../limits.ts';
import { can } from '../session.ts';
import type { Accepted } from '../../../src/client/contract/event.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { toastSuccess } from '../toasts.ts';
import { isFixed } from './end.ts';

type ActionsProps = {
  readonly subscription: Subscription;
  readonly onChange: (changed: Subscription) => void;
  readonly onPing: (accepted: Accepted) => void;
};

export function SubscriptionActions({ subscription, onChange, onPing }: ActionsProps): JSX.Element {
  const { id, state } = subscription;
  const isOver = state === 'ended';
  return (
    <div class="cluster">
      {state === 'unconfirmed' && can('subscribe') ? (
        <ConfirmButton id={id} onChange={onChange} />
      ) : null}
      {isFixed(subscription) || !can('subscribe') ? null : (
        <>
          <PauseButton subscription={subscription} onChange={onChange} />
          <PingButton id={id} onPing={onPing} />
        </>
      )}
      {isFixed(subscription) || !can('retry') ? null : (
        <LinkButton icon="replay" href={replayHref(id)}>
          Replay dead deliveries…
        </LinkButton>
      )}
      {isOver || !can('subscribe') ? null : (
        <UnsubscribeButton subscription={subscription} onChange={onChange} />
      )}
      {can('subscribe') || isOver ? null : (
        <p class="soft">To make changes, sign in with a key that has the “subscribe” scope.</p>
      )}
    </div>
  );
}

export function subscriptionPath(id: string): string {
  return `/subscriptions/${encodeURIComponent(id)}`;
}

/** The user picks the time in the replay form; it starts a day ago. */
function replayHref(id: string): string {
  const from = new Date(nowMs() - limits.replaySinceMs).toISOString();
  return withQuery('/console/replays', { new: 1, subscriberId: id, state: 'dead', from });
}

function ConfirmButton({
  id,
  onChange,
}: { id: string } & Pick<ActionsProps, 'onChange'>): JSX.Element {
  const act = useAction(async () => {
    onChange(await send<Subscription>('POST', `${subscriptionPath(id)}/confirm`));
    toastSuccess('Subscription confirmed.');
  });
  return (
    <Button kind="primary" icon="check" isBusy={act.isBusy} onClick={act.run}>
      Confirm
    </Button>
  );
}

function PauseButton({
  subscription,
  onChange,
}: Pick<ActionsProps, 'subscription' | 'onChange'>): JSX.Element {
  const { id, state } = subscription;
  const isActive = state === 'active';
  const act = useAction(async () => {
    const body = { state: isActive ? 'paused' : 'active' };
    onChange(await send<Subscription>('PATCH', subscriptionPath(id), { body }));
    toastSuccess(isActive ? 'Subscription paused.' : 'Subscription resumed.');
  });
  return (
    <Button icon={isActive ? 'pause' : 'play'} isBusy={act.isBusy} onClick={act.run}>
      {isActive ? 'Pause' : 'Resume'}
    </Button>
  );
}

function PingButton({ id, onPing }: { id: string } & Pick<ActionsProps, 'onPing'>): JSX.Element {
  const act = useAction(async () => {
    onPing(await send<Accepted>('POST', `${subscriptionPath(id)}/ping`));
  });
  return (
    <Button icon="delivery" isBusy={act.isBusy} onClick={act.run}>
      Ping
    </Button>
  );
}

function UnsubscribeButton({
  subscription,
  onChange,
}: Pick<ActionsProps, 'subscription' | 'onChange'>): JSX.Element {
  const { id, state, callbacks } = subscription;
  const isAsking = useSignal(false);
  const act = useAction(
    async () => {
      await send<void>('DELETE', subscriptionPath(id));
      onChange(await get<Subscription>(subscriptionPath(id)));
      isAsking.value = false;
      toastSuccess('Subscription ended.');
    },
    { quiet: true },
  );
  return (
    <>
      <Button kind="danger" onClick={() => (isAsking.value = true)}>
        Unsubscribe
      </Button>
      {isAsking.value ? (
        <ConfirmDialog
          title="End this subscription?"
          confirm="Unsubscribe"
          isBusy={act.isBusy}
          onConfirm={act.run}
          onClose={() => (isAsking.value = false)}
        >
          <p>
            No more events are sent to{' '}
            <UntrustedText text={callbacks.find(({ url }) => url !== undefined)?.url ?? id} mono />
            {callbacks.length > 1 ? ` and its other ${callbacks.length - 1} callbacks` : ''}.
            Pending deliveries are cancelled.
          </p>
          <p>
            This cannot be undone.
            {state === 'active' ? ' To stop temporarily, pause the subscription instead.' : ''}
          </p>
          {act.problem === undefined ? null : <ProblemNotice problem={act.problem} />}
        </ConfirmDialog>
      ) : null}
    </>
  );
}
