// One event: what it says, and where it went.
import type { JSX } from 'preact';
import { getText } from '../api.ts';
import { Code } from '../components/code.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Drawer } from '../components/dialog.tsx';
import { FanOut } from '../components/fan-out.tsx';
import { Failed, Skeleton } from '../components/list-states.tsx';
import { Notice } from '../components/notice.tsx';
import { Id, Outside } from '../components/outside.tsx';
import { Fact, Facts, Part } from '../components/part.tsx';
import { Time } from '../components/time.tsx';
import { memberText } from '../json-text.ts';
import { useLoad } from '../load.ts';
import type { PublishedEvent } from '../shapes.ts';

type WithPayload = PublishedEvent & { readonly payload: string };

export function EventDrawer({
  id,
  onClose,
}: {
  readonly id: string;
  readonly onClose: () => void;
}): JSX.Element {
  const load = useLoad(id, (signal) => readEvent(id, signal));
  const { state } = load;
  return (
    <Drawer title="Event" onClose={onClose}>
      {state.kind === 'loading' ? <Skeleton /> : null}
      {state.kind === 'failed' ? <Failed problem={state.problem} onRetry={load.reload} /> : null}
      {state.kind === 'ready' ? <Shown event={state.value} /> : null}
    </Drawer>
  );
}

/** The payload stays as it was written, for numbers that JavaScript cannot hold. */
async function readEvent(id: string, signal: AbortSignal): Promise<WithPayload> {
  const text = await getText(`/events/${encodeURIComponent(id)}`, signal);
  const event: PublishedEvent = JSON.parse(text);
  return { ...event, payload: memberText(text, 'payload') ?? '' };
}

function Shown({ event }: { event: WithPayload }): JSX.Element {
  const { id, event: name, deliveries, createdAt, rejected, payload } = event;
  return (
    <>
      <Facts>
        <Fact name="Name">
          <Outside text={name} mono />
        </Fact>
        <Fact name="Id">
          <span class="cluster">
            <Id id={id} />
            <CopyButton text={id} what="id" isBare />
          </span>
        </Fact>
        <Fact name="Published">
          <Time at={createdAt} />
        </Fact>
      </Facts>
      {rejected === undefined ? null : (
        <Notice tone="bad" title="Rejected: it goes to nobody">
          <p>
            <Outside text={rejected} />
          </p>
        </Notice>
      )}
      {rejected === undefined ? (
        <Part title="Where it went">
          <FanOut eventId={id} expected={deliveries} />
        </Part>
      ) : null}
      <Part title="Payload">
        <Code text={payload} label="payload" />
      </Part>
    </>
  );
}
