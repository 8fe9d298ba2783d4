// Cancels a replay after confirmation.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useAction } from '../action.ts';
import { ApiProblem, get, send } from '../api.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { ProblemNotice } from '../components/notice.tsx';
import { count, plural } from '../format.ts';
import type { Replay } from '../../../src/client/contract/delivery.ts';
import { toastSuccess } from '../toasts.ts';

export function CancelButton({
  replay,
  onChange,
}: {
  readonly replay: Replay;
  readonly onChange: (changed: Replay) => void;
}): JSX.Element {
  const isAsking = useSignal(false);
  const act = useAction(
    async () => {
      const changed = await cancelled(replay.id);
      isAsking.value = false;
      onChange(changed);
      const sent = plural(changed.replayed, 'delivery', 'deliveries');
      toastSuccess(
        changed.state === 'cancelled'
          ? `Replay cancelled after ${sent}.`
          : `The replay had already finished: ${sent} replayed.`,
      );
    },
    { quiet: true },
  );
  return (
    <>
      <Button kind="danger" onClick={() => (isAsking.value = true)}>
        Cancel replay
      </Button>
      {isAsking.value ? (
        <ConfirmDialog
          title="Cancel this replay?"
          confirm="Cancel replay"
          dismiss="Keep running"
          isBusy={act.isBusy}
          onConfirm={act.run}
          onClose={() => (isAsking.value = false)}
        >
          <p>
            Deliveries that were replayed so far ({count(replay.replayed)}) are still sent; no
            others are replayed.
          </p>
          <p>A cancelled replay cannot be resumed, but a new replay can cover the rest.</p>
          {act.problem === undefined ? null : <ProblemNotice problem={act.problem} />}
        </ConfirmDialog>
      ) : null}
    </>
  );
}

/** A replay that finished a moment before is not an error: show it. */
async function cancelled(id: string): Promise<Replay> {
  const path = `/replays/${encodeURIComponent(id)}`;
  try {
    return await send<Replay>('POST', `${path}/cancel`);
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 409) return await get<Replay>(path);
    throw error;
  }
}
