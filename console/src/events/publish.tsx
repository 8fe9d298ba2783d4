// Publishes an event by hand: name and payload next to the schema of the contract, then its
// deliveries, live.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { get } from '../api.ts';
import { Drawer } from '../components/dialog.tsx';
import { FanOut } from '../components/fan-out.tsx';
import { Failed, Skeleton } from '../components/list-states.tsx';
import { Notice } from '../components/notice.tsx';
import { Id, UntrustedText } from '../components/untrusted-text.tsx';
import { DrawerSection } from '../components/drawer-section.tsx';
import { useLoad } from '../load.ts';
import { hrefWith } from '../router.ts';
import type { EventType } from './event-types.ts';
import { PublishForm } from './publish-form.tsx';
import { SkippedCallbacks } from './skipped-callbacks.tsx';
import type { Sent } from './publishing.ts';

export function Publish({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const load = useLoad('types', (signal) =>
    get<{ items: readonly EventType[] }>('/event-types', { signal }),
  );
  const sent = useSignal<Sent | undefined>(undefined);
  const { state } = load;
  return (
    <Drawer title="Publish an event" onClose={onClose}>
      {state.kind === 'loading' ? <Skeleton /> : null}
      {state.kind === 'failed' ? <Failed problem={state.problem} onRetry={load.reload} /> : null}
      {sent.value === undefined ? null : <Result sent={sent.value} />}
      {state.kind === 'ready' ? (
        <PublishForm
          types={state.value.items}
          isAgain={sent.value !== undefined}
          onSent={(one) => (sent.value = one)}
        />
      ) : null}
    </Drawer>
  );
}

function Result({ sent }: { sent: Sent }): JSX.Element {
  const { event, accepted } = sent;
  const { eventId, deliveries, warnings = [] } = accepted;
  const part = useRef<HTMLDivElement>(null);
  // The result appears above the form, possibly out of view.
  useEffect(() => part.current?.focus(), [eventId]);
  return (
    <div ref={part} tabIndex={-1} class="published">
      <DrawerSection
        title="Published"
        actions={
          <a href={hrefWith({ publish: undefined, to: undefined, eventId })}>
            <Id id={eventId} />
          </a>
        }
      >
        {warnings.length === 0 ? null : (
          <Notice tone="warn" title="Accepted, although the payload violates the contract">
            <ul class="notice-list">
              {warnings.map(({ field, message }) => (
                <li key={field + message}>
                  <UntrustedText text={field} mono /> <UntrustedText text={message} />
                </li>
              ))}
            </ul>
          </Notice>
        )}
        <SkippedCallbacks skipped={accepted.skippedCallbacks} />
        <p class="soft" role="status">
          <UntrustedText text={event} mono /> was accepted and stored.
        </p>
        <FanOut key={eventId} eventId={eventId} expected={deliveries} />
      </DrawerSection>
    </div>
  );
}
