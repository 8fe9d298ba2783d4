// Sends all deliveries again that have failed since a time: counts them first, then shows the progress.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type {
  CreateReplay200,
  NewReplayFilter,
  Replay,
} from '../../../src/client/contract/delivery.ts';
import { useAction } from '../../src/action.ts';
import { get, newIdempotencyKey, send } from '../../src/api.ts';
import { nowMs } from '../../src/clock.ts';
import { Button, LinkButton } from '../../src/components/button.tsx';
import { Select, TimeField } from '../../src/components/field.tsx';
import { Failed, Skeleton } from '../../src/components/list-states.tsx';
import { Notice, ProblemNotice } from '../../src/components/notice.tsx';
import { PageHeader } from '../../src/components/page.tsx';
import { Progress } from '../../src/components/progress.tsx';
import { visible } from '../../src/hidden-characters.ts';
import { limits } from '../../src/limits.ts';
import { useLoad } from '../../src/load.ts';
import { fromField, toField } from '../../src/local-time.ts';
import { nameOf } from '../endpoints/endpoint-texts.ts';
import { useEndpoints } from '../endpoints/read-endpoints.ts';
import { t } from '../language.ts';
import { usePolling } from '../poll.ts';
import { Prose } from '../prose.tsx';
import { href, param, setParams } from '../route.ts';
import { BackLink } from '../back-link.tsx';

export function ResendPage(): JSX.Element {
  const say = t().resend;
  const started = useSignal<Replay | undefined>(undefined);
  return (
    <>
      <BackLink to="deliveries" />
      <PageHeader title={say.title} note={<Prose text={say.note} />} />
      <div class="card padded stack">
        {started.value === undefined ? (
          <Form onStarted={(replay) => (started.value = replay)} />
        ) : (
          <Started first={started.value} />
        )}
      </div>
    </>
  );
}

function Form({ onStarted }: { onStarted: (replay: Replay) => void }): JSX.Element {
  const say = t().resend;
  const endpoints = useEndpoints();
  // Fixed while the page is open: the count is for this time.
  const dayAgo = useRef(new Date(nowMs() - limits.replaySinceMs).toISOString()).current;
  const endpoint = param('endpoint');
  const from = param('since') ?? dayAgo;
  const filter: NewReplayFilter = {
    state: 'dead',
    from,
    ...(endpoint === undefined ? {} : { subscriberId: endpoint }),
  };
  return (
    <>
      <div class="resend-fields">
        <Select
          label={say.endpoint}
          isLong
          value={endpoint ?? ''}
          options={[
            { value: '', text: say.all },
            ...endpoints.items.map((one) => ({ value: one.id, text: visible(nameOf(one)) })),
          ]}
          onChange={(value) => setParams({ endpoint: value })}
        />
        <TimeField
          label={say.since}
          hint={say.sinceHint}
          value={toField(from)}
          onChange={(text) => setParams({ since: fromField(text) })}
        />
      </div>
      <Count key={JSON.stringify(filter)} filter={filter} onStarted={onStarted} />
    </>
  );
}

function Count({
  filter,
  onStarted,
}: {
  filter: NewReplayFilter;
  onStarted: (replay: Replay) => void;
}): JSX.Element {
  const say = t().resend;
  const { state, reload } = useLoad('count', (signal) =>
    send<CreateReplay200>('POST', '/replays', { body: { filter, dryRun: true }, signal }),
  );
  const key = useRef(newIdempotencyKey());
  const start = useAction(
    async () => {
      onStarted(
        await send<Replay>('POST', '/replays', { body: { filter }, idempotencyKey: key.current }),
      );
    },
    { quiet: true },
  );
  if (state.kind === 'loading') return <Skeleton rows={2} />;
  if (state.kind === 'failed') return <Failed problem={state.problem} onRetry={reload} />;
  const { matched, isCapped } = state.value;
  if (matched === 0) {
    return (
      <Notice tone={isCapped ? 'warn' : 'quiet'} title={isCapped ? say.tooMany : say.nothing}>
        {isCapped ? null : <p>{say.nothingText}</p>}
      </Notice>
    );
  }
  return (
    <>
      <p role="status">
        <strong>{isCapped ? say.countCapped(matched) : say.count(matched)}</strong>
      </p>
      {start.problem === undefined ? null : <ProblemNotice problem={start.problem} />}
      <p>
        <Button kind="primary" icon="replay" isBusy={start.isBusy} onClick={start.run}>
          {isCapped ? say.startMany(matched) : say.start(matched)}
        </Button>
      </p>
    </>
  );
}

function Started({ first }: { first: Replay }): JSX.Element {
  const say = t().resend;
  const load = useLoad(first.id, (signal) => get<Replay>(`/replays/${first.id}`, { signal }));
  const replay = load.value ?? first;
  const isRunning = replay.state === 'running';
  usePolling(load.reload, { everyMs: 1_000, isOn: isRunning });
  const stop = useAction(async () => {
    await send<Replay>('POST', `/replays/${first.id}/cancel`);
    load.reload();
  });
  const title = { running: say.running, done: say.done, cancelled: say.cancelled }[replay.state];
  return (
    <>
      <p role="status">
        <strong>{title}</strong> {isRunning ? null : say.progress(replay.replayed, replay.skipped)}
      </p>
      <Progress value={replay.progress} label={title} tone={isRunning ? 'accent' : 'quiet'} />
      {isRunning ? <p class="soft">{say.progress(replay.replayed, replay.skipped)}</p> : null}
      <p class="cluster">
        <LinkButton href={href('deliveries', { endpoint: replay.filter.subscriberId })}>
          {say.view}
        </LinkButton>
        {isRunning ? (
          <Button isBusy={stop.isBusy} onClick={stop.run}>
            {say.stop}
          </Button>
        ) : null}
      </p>
    </>
  );
}
