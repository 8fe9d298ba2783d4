// One event: its payload and its deliveries.
import type { JSX } from 'preact';
import { getText } from '../api.ts';
import { Code } from '../components/code.tsx';
import { Drawer } from '../components/dialog.tsx';
import { FanOut } from '../components/fan-out.tsx';
import { IdFact } from '../components/id-fact.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Notice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { Fact, Facts, DrawerSection } from '../components/drawer-section.tsx';
import { NamedFacts } from '../components/subject-customer.tsx';
import { Time } from '../components/time.tsx';
import { SkippedCallbacks } from './skipped-callbacks.tsx';
import { memberText } from '../json-text.ts';
import { useLoad } from '../load.ts';
import type { Event as PublishedEvent } from '../../../src/client/contract/event.ts';

type WithPayload = PublishedEvent & { readonly payload: string };

export function EventDrawer({
  id,
  onClose,
}: {
  readonly id: string;
  readonly onClose: () => void;
}): JSX.Element {
  const load = useLoad(id, (signal) => readEvent(id, signal));
  return (
    <Drawer title="Event" onClose={onClose}>
      <Loaded load={load}>{(event) => <Shown event={event} />}</Loaded>
    </Drawer>
  );
}

/** The payload stays text: JavaScript cannot represent every JSON number. */
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
          <UntrustedText text={name} mono />
        </Fact>
        <IdFact id={id} />
        <NamedFacts {...event} />
        <Fact name="Published">
          <Time at={createdAt} />
        </Fact>
      </Facts>
      {rejected === undefined ? null : (
        <Notice tone="bad" title="Rejected: not delivered">
          <p>
            <UntrustedText text={rejected} />
          </p>
        </Notice>
      )}
      <SkippedCallbacks skipped={event.skippedCallbacks} />
      {rejected === undefined ? (
        <DrawerSection title="Deliveries">
          <FanOut eventId={id} expected={deliveries} />
        </DrawerSection>
      ) : null}
      <DrawerSection title="Payload">
        <Code text={payload} label="payload" />
      </DrawerSection>
    </>
  );
}
