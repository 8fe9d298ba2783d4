// Sends a delivery again. A dead delivery continues under its own ID; a delivered or cancelled one
// gets a new delivery, which is then shown.
import type { JSX } from 'preact';
import { useAction } from '../action.ts';
import { send } from '../api.ts';
import { Button } from '../components/button.tsx';
import { setParams } from '../router.ts';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { toastSuccess } from '../toasts.ts';

export function RetryButton({
  delivery: { id, state },
  subscription,
  onDone,
}: {
  readonly delivery: Delivery;
  readonly subscription: Subscription | undefined;
  readonly onDone: () => void;
}): JSX.Element | null {
  const retry = useAction(async () => {
    const again = await send<{ id: string }>('POST', `/deliveries/${id}/retry`);
    toastSuccess('Delivery queued again.');
    if (again.id === id) onDone();
    else setParams({ delivery: again.id, attempt: undefined, tab: undefined });
  });
  const hasEnded = subscription?.state === 'ended';
  if (state === 'due' || state === 'running' || hasEnded) return null;
  return (
    <Button
      kind={state === 'dead' ? 'primary' : 'plain'}
      size="small"
      icon="replay"
      isBusy={retry.isBusy}
      onClick={retry.run}
    >
      {state === 'dead' ? 'Retry now' : 'Send again'}
    </Button>
  );
}
