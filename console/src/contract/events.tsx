// The events that can be published under a contract, each with a payload that all its callbacks
// accept.
import type { JSX } from 'preact';
import type { ContractReport } from '../../../src/client/contract/service.ts';
import { Code } from '../components/code.tsx';
import { Empty } from '../components/list-states.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { Section } from '../components/page.tsx';
import { visible } from '../hidden-characters.ts';

export function EventsSection({ events }: { events: ContractReport['events'] }): JSX.Element {
  return (
    <Section title="Events to publish" isFlush>
      {events.length === 0 ? (
        <Empty icon="event" title="No events to publish">
          <p>No callback of this contract is active. See the warnings for the reasons.</p>
        </Empty>
      ) : (
        <ul class="contract-events">
          {events.map((event) => (
            <li key={event.event}>
              <OneEvent event={event} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function OneEvent({ event }: { event: ContractReport['events'][number] }): JSX.Element {
  const { payload, callbacks } = event;
  return (
    <>
      <div class="contract-event">
        <b>
          <UntrustedText text={event.event} mono />
        </b>
        <p class="soft">
          {describe(event.event)} Triggers <UntrustedText text={callbacks.join(', ')} />.
        </p>
      </div>
      {payload['kind'] === 'sample' ? (
        <Code
          text={JSON.stringify(payload['value'])}
          label={`example of ${visible(event.event).slice(0, 80)}`}
        />
      ) : (
        <p class="soft">
          No example: <UntrustedText text={String(payload['why'])} />
        </p>
      )}
    </>
  );
}

function describe(event: string): string {
  if (event === '*') return 'Any event name.';
  if (event.includes('{')) return 'The event name from the subscribe request.';
  return event.endsWith('.*') ? 'Any event name with this prefix.' : '';
}
