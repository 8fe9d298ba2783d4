// One delivery: why it failed and what to do, request and response, and the next attempt. It
// follows the stream while open.
import './drawer.css';
import type { JSX } from 'preact';
import { get } from '../api.ts';
import { Drawer } from '../components/dialog.tsx';
import { Empty, Failed, Skeleton } from '../components/list-states.tsx';
import { Id, UntrustedText } from '../components/untrusted-text.tsx';
import { useShortcuts } from '../shortcuts.ts';
import { limits } from '../limits.ts';
import { useLoad, type Load } from '../load.ts';
import { setParams } from '../router.ts';
import type { GetDeliveryAnswer as DeliveryWithAttempts } from '../../../src/client/contract/delivery.ts';
import { useFrames } from '../stream.ts';
import { useThrottled } from '../throttle.ts';
import { DeliveryDetail } from './detail.tsx';

type DrawerProps = {
  readonly id: string;
  readonly neighbours: { readonly next: string | undefined; readonly before: string | undefined };
  readonly onClose: () => void;
};

export function DeliveryDrawer({ id, neighbours, onClose }: DrawerProps): JSX.Element {
  const load = useDelivery(id);
  useShortcuts(
    [
      { keys: 'j', does: 'Next row', run: () => goTo(neighbours.next) },
      { keys: 'k', does: 'Previous row', run: () => goTo(neighbours.before) },
    ],
    { isInDialog: true },
  );
  const title = (
    <>
      Delivery <Id id={id} />
    </>
  );
  return (
    <Drawer title={title} onClose={onClose}>
      <Content id={id} load={load} />
    </Drawer>
  );
}

function goTo(id: string | undefined): void {
  if (id !== undefined) setParams({ delivery: id, attempt: undefined }, { replace: true });
}

function Content({ id, load }: { id: string; load: Load<DeliveryWithAttempts> }): JSX.Element {
  const { state } = load;
  if (state.kind === 'failed') {
    if (state.problem.status === 404) return <Unknown id={id} />;
    return <Failed problem={state.problem} onRetry={load.reload} />;
  }
  // While another delivery is loading, the previous one must not appear under its ID.
  if (state.kind === 'loading' || state.value.id !== id) return <Skeleton rows={8} />;
  return <DeliveryDetail key={id} delivery={state.value} onChange={load.reload} />;
}

function Unknown({ id }: { id: string }): JSX.Element {
  return (
    <Empty icon="search" title="Delivery not found">
      <p>
        There is no delivery with the ID <UntrustedText text={id} mono />. It may be mistyped,
        belong to another app, or be past its retention.
      </p>
    </Empty>
  );
}

function useDelivery(id: string): Load<DeliveryWithAttempts> {
  const load = useLoad(id, (signal) =>
    get<DeliveryWithAttempts>(`/deliveries/${encodeURIComponent(id)}`, { signal }),
  );
  const scheduleReload = useThrottled(load.reload, limits.detailEveryMs);
  useFrames((frame) => {
    const isPending = load.value?.state === 'due' || load.value?.state === 'running';
    const mayHaveChanged = frame.isReset || (isPending && frame.more > 0);
    if (mayHaveChanged || frame.deliveries.some((one) => one.id === id)) scheduleReload();
  });
  return load;
}
