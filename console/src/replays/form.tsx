// The form of a new replay: selection, count of matching deliveries, and rate. Its fields are query
// parameters, so that other pages can link to a filled-in form. A replay can only start after its
// deliveries were counted.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { useAction, type Action } from '../action.ts';
import { newIdempotencyKey, send, type ApiProblem } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Drawer } from '../components/dialog.tsx';
import { Notice, ProblemNotice } from '../components/notice.tsx';
import { count, duration, plural } from '../format.ts';
import { route } from '../router.ts';
import type { Replay } from '../../../src/client/contract/delivery.ts';
import { toastSuccess } from '../toasts.ts';
import { FormFields } from './form-fields.tsx';
import { rateError, requestOf, valuesIn, type ReplayRequest } from './form-values.ts';

type Counted = { readonly matched: number; readonly isCapped: boolean };

/** A count, and the request that it belongs to. */
type Answer = { readonly asked: string; readonly counted: Counted };

export function ReplayForm({
  onStarted,
  onClose,
}: {
  readonly onStarted: (replay: Replay) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const values = valuesIn(route.value.query);
  const request = requestOf(values);
  const asked = JSON.stringify(request.filter);
  const answer = useSignal<Answer | undefined>(undefined);
  const counted = answer.value?.asked === asked ? answer.value.counted : undefined;
  const isRateValid = rateError(values.rate) === undefined;

  const counting = useAction(
    async () => {
      const body = { filter: request.filter, dryRun: true };
      answer.value = { asked, counted: await send<Counted>('POST', '/replays', { body }) };
    },
    { quiet: true },
  );
  const start = useStart(request, onStarted);
  const problem = start.problem ?? counting.problem;
  return (
    <Drawer
      title="New replay"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <CountButton counting={counting} isCounted={counted !== undefined} />
          {counted === undefined || counted.matched === 0 ? null : (
            <Button
              kind="primary"
              icon="replay"
              isBusy={start.isBusy}
              isDisabled={!isRateValid}
              onClick={start.run}
            >
              {`Replay ${countLabel(counted)}`}
            </Button>
          )}
        </>
      }
    >
      <p class="soft">
        Sends finished deliveries again, oldest first. The webhook-id stays the same, so receivers
        can recognize duplicates.
      </p>
      {/* Enter in a field counts; only the button starts the replay. */}
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          counting.run();
        }}
      >
        <FormFields values={values} problem={problem} />
        <button type="submit" class="off-screen" tabIndex={-1} aria-hidden="true" />
      </form>
      <div role="status">
        {counted === undefined ? null : (
          <CountNotice counted={counted} ratePerSecond={request.ratePerSecond} />
        )}
      </div>
      {problem === undefined || isOfField(problem) ? null : <ProblemNotice problem={problem} />}
    </Drawer>
  );
}

function CountButton({
  counting,
  isCounted,
}: {
  counting: Action;
  isCounted: boolean;
}): JSX.Element {
  return (
    <Button kind={isCounted ? 'plain' : 'primary'} isBusy={counting.isBusy} onClick={counting.run}>
      {isCounted ? 'Count again' : 'Count deliveries'}
    </Button>
  );
}

/** A lost response is retried with the same key; a changed request gets a new key. */
function useStart(request: ReplayRequest, onStarted: (replay: Replay) => void): Action {
  const key = useRef({ of: '', key: '' });
  return useAction(
    async () => {
      const json = JSON.stringify(request);
      if (key.current.of !== json) key.current = { of: json, key: newIdempotencyKey() };
      const idempotencyKey = key.current.key;
      const replay = await send<Replay>('POST', '/replays', { json, idempotencyKey });
      toastSuccess('Replay started.');
      onStarted(replay);
    },
    { quiet: true },
  );
}

function CountNotice({
  counted,
  ratePerSecond,
}: {
  counted: Counted;
  ratePerSecond: number;
}): JSX.Element {
  const { matched, isCapped } = counted;
  if (matched === 0 && !isCapped) {
    return (
      <Notice tone="quiet" title="No matching deliveries">
        <p>No finished delivery matches. Widen the time range or remove a condition.</p>
      </Notice>
    );
  }
  if (matched === 0) {
    return (
      <Notice tone="warn" title="Count stopped after 2 seconds">
        <p>Too many deliveries to count. Narrow the time range and try again.</p>
      </Notice>
    );
  }
  const tookMs = Math.max((matched / Math.max(ratePerSecond, 1)) * 1_000, 1_000);
  const least = isCapped ? 'at least ' : '';
  return (
    <Notice tone="info" title={`${countLabel(counted)} would be replayed`}>
      <p>
        At {plural(ratePerSecond, 'delivery', 'deliveries')} per second this takes {least}
        {duration(tookMs)}. Deliveries that are already pending are skipped.
      </p>
    </Notice>
  );
}

function countLabel({ matched, isCapped }: Counted): string {
  if (isCapped) return `${count(matched)}+ deliveries`;
  return plural(matched, 'delivery', 'deliveries');
}

/** Shown at the field. */
function isOfField(problem: ApiProblem): boolean {
  return problem.errors.length > 0;
}
