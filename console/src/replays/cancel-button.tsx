// Cancels a replay, after a question.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useAction } from '../action.ts';
import { ApiProblem, get, send } from '../api.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { ProblemNotice } from '../components/notice.tsx';
import { plural } from '../format.ts';
import type { Replay } from '../../../src/client/contract/replay.ts';
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
          ? `Cancelled after ${sent}.`
          : `It was done already: ${sent} sent again.`,
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
          isBusy={act.isBusy}
          onConfirm={act.run}
          onClose={() => (isAsking.value = false)}
        >
          <p>
            What it sent again so far ({plural(replay.replayed, 'delivery', 'deliveries')}) goes on
            its way; nothing more is sent again.
          </p>
          <p>It cannot be resumed, but a new replay can take the rest.</p>
          {act.problem === undefined ? null : <ProblemNotice problem={act.problem} />}
        </ConfirmDialog>
      ) : null}
    </>
  );
}

/** One that was done a moment before is no failure: then it is shown as it is. */
async function cancelled(id: string): Promise<Replay> {
  const path = `/replays/${encodeURIComponent(id)}`;
  try {
    return await send<Replay>('POST', `${path}/cancel`);
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 409) return await get<Replay>(path);
    throw error;
  }
}
