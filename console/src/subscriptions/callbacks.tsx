// The callbacks of a subscription: events and target URL, or why a callback is inactive.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useAction } from '../action.ts';
import { send } from '../api.ts';
import { StateBadge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { TextField } from '../components/field.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { DrawerSection } from '../components/drawer-section.tsx';
import { count, plural } from '../format.ts';
import { limits } from '../limits.ts';
import { can } from '../session.ts';
import type { Callback, Subscription } from '../../../src/client/contract/subscription.ts';
import { isFixed } from './end.ts';
import { toastSuccess } from '../toasts.ts';
import { subscriptionPath } from './actions.tsx';
import { eventSummary } from './event-summary.ts';
import { messageFor } from './problem-message.ts';

type CallbacksProps = {
  readonly subscription: Subscription;
  readonly onChange: (changed: Subscription) => void;
};

export function Callbacks({ subscription, onChange }: CallbacksProps): JSX.Element {
  const { callbacks } = subscription;
  const changing = useSignal<Callback | undefined>(undefined);
  const mayChange = can('subscribe') && !isFixed(subscription);
  return (
    <DrawerSection title={plural(callbacks.length, 'callback')}>
      <ul class="callbacks">
        {callbacks.map((callback) => (
          <li key={callback.position}>
            <CallbackLine callback={callback} />
            {mayChange ? (
              <Button
                size="small"
                label={`Change URL of ${callback.label} for ${callback.event}`}
                onClick={() => (changing.value = callback)}
              >
                Change URL
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      {changing.value === undefined ? null : (
        <ChangeUrl
          subscription={subscription}
          callback={changing.value}
          onChange={onChange}
          onClose={() => (changing.value = undefined)}
        />
      )}
    </DrawerSection>
  );
}

function CallbackLine({ callback }: { callback: Callback }): JSX.Element {
  const { label, events, method, url, inactive } = callback;
  const isEvery = events.includes('*');
  const heard = eventSummary([callback], 'every event');
  return (
    <div class="callback">
      <p class="cluster">
        <b>
          <UntrustedText text={label} />
        </b>
        <span class="soft">
          subscribed to <UntrustedText text={heard} mono={!isEvery} />
        </span>
        {inactive === undefined ? null : <StateBadge state="inactive" />}
      </p>
      {url === undefined ? null : (
        <p class="callback-url">
          <span>
            <span class="mono soft">{method}</span> <UntrustedText text={beginning(url)} mono />
          </span>
          <CopyButton text={url} what="URL" isBare />
        </p>
      )}
      {inactive === undefined ? null : (
        <p class="callback-reason">
          Inactive: <UntrustedText text={inactive} />
        </p>
      )}
    </div>
  );
}

/** The copy button has the full URL. */
function beginning(url: string): string {
  if (url.length <= limits.titleCharsMax) return url;
  return `${url.slice(0, limits.titleCharsMax)}… (${count(url.length)} characters)`;
}

function ChangeUrl({
  subscription,
  callback,
  onChange,
  onClose,
}: CallbacksProps & { readonly callback: Callback; readonly onClose: () => void }): JSX.Element {
  const url = useSignal(callback.url ?? '');
  const act = useAction(
    async () => {
      const body = { callbacks: [{ position: callback.position, url: url.value.trim() }] };
      onChange(await send<Subscription>('PATCH', subscriptionPath(subscription.id), { body }));
      toastSuccess('URL changed. New attempts use it.');
      onClose();
    },
    { quiet: true },
  );
  const submit = (event: Event): void => {
    event.preventDefault();
    if (url.value.trim() !== '') act.run();
  };
  return (
    <Dialog title="Change URL" onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <TextField
          label={`URL for ${callback.label}`}
          value={url.value}
          isMono
          isRequired
          isFocused
          hint="Pending deliveries use the new URL too."
          error={act.problem === undefined ? undefined : messageFor(act.problem)}
          onInput={(value) => (url.value = value)}
        />
        <div class="form-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" isBusy={act.isBusy}>
            Change URL
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
