// The form of a new replay: what fits, counted before anything is sent, and how fast. Its fields stand in
// the address, so other pages can open it filled in. Nothing is sent again that was not counted first.
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
import type { Replay } from '../../../src/client/contract/replay.ts';
import { toastSuccess } from '../toasts.ts';
import { FormFields } from './form-fields.tsx';
import { rateError, requestOf, valuesIn, type ReplayRequest } from './form-values.ts';

type Counted = { readonly matched: number; readonly isCapped: boolean };

/** A count, and the request that it is the count of. */
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
  const isFine = rateError(values.rate) === undefined;

  const look = useAction(
    async () => {
      const body = { filter: request.filter, dryRun: true };
      answer.value = { asked, counted: await send<Counted>('POST', '/replays', { body }) };
    },
    { quiet: true },
  );
  const start = useStart(request, onStarted);
  const problem = start.problem ?? look.problem;
  return (
    <Drawer
      title="New replay"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <CountButton look={look} isCounted={counted !== undefined} />
          {counted === undefined || counted.matched === 0 ? null : (
            <Button
              kind="primary"
              icon="replay"
              isBusy={start.isBusy}
              isDisabled={!isFine}
              onClick={start.run}
            >
              {`Replay ${countWords(counted)}`}
            </Button>
          )}
        </>
      }
    >
      <p class="soft">
        Sends deliveries again that have ended, oldest first. Receivers see the same webhook-id as
        before, so they can tell a repetition.
      </p>
      {/* Enter in a field counts; only the button itself sends. */}
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          look.run();
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

function CountButton({ look, isCounted }: { look: Action; isCounted: boolean }): JSX.Element {
  return (
    <Button kind={isCounted ? 'plain' : 'primary'} isBusy={look.isBusy} onClick={look.run}>
      {isCounted ? 'Count again' : 'Count'}
    </Button>
  );
}

/** A lost answer is asked for again with the same key; another values gets its own. */
function useStart(request: ReplayRequest, onStarted: (replay: Replay) => void): Action {
  const key = useRef({ of: '', key: '' });
  return useAction(
    async () => {
      const json = JSON.stringify(request);
      if (key.current.of !== json) key.current = { of: json, key: newIdempotencyKey() };
      const idempotencyKey = key.current.key;
      const replay = await send<Replay>('POST', '/replays', { json, idempotencyKey });
      toastSuccess('The replay has begun.');
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
      <Notice tone="quiet" title="Nothing fits">
        <p>No delivery that has ended fits. Widen the time, or take something away above.</p>
      </Notice>
    );
  }
  if (matched === 0) {
    return (
      <Notice tone="warn" title="Nothing found in 2 seconds">
        <p>There is much to look through. Narrow the time, then count again.</p>
      </Notice>
    );
  }
  const tookMs = Math.max((matched / Math.max(ratePerSecond, 1)) * 1_000, 1_000);
  const least = isCapped ? 'at least ' : '';
  return (
    <Notice tone="info" title={`${countWords(counted)} would be sent again`}>
      <p>
        At {plural(ratePerSecond, 'delivery', 'deliveries')} per second that takes {least}
        {duration(tookMs)}. Those that are waiting already are skipped.
      </p>
    </Notice>
  );
}

function countWords({ matched, isCapped }: Counted): string {
  if (isCapped) return `${count(matched)} deliveries or more`;
  return plural(matched, 'delivery', 'deliveries');
}

/** Said where the field is. */
function isOfField(problem: ApiProblem): boolean {
  return problem.errors.length > 0;
}
