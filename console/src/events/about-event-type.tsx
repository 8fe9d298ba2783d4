// What declares an event, a webhook or the app, with its description and state, and where all of its schema is.
import type { JSX } from 'preact';
import { withQuery } from '../api.ts';
import { StateBadge } from '../components/badge.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import type { EventType } from './event-types.ts';

export function AboutEventType({ type }: { readonly type: EventType }): JSX.Element {
  const { source, contract, description, version, state } = type;
  return (
    <div class="schema-of">
      <p class="cluster soft">
        {source === 'webhook' ? (
          <span>
            Webhook of <UntrustedText text={contract} />
          </span>
        ) : (
          <span>Event type, version {version}</span>
        )}
        {state === 'deprecated' ? <StateBadge state="deprecated" /> : null}
      </p>
      {description === undefined ? null : (
        <p>
          <UntrustedText text={description} />
        </p>
      )}
    </div>
  );
}

/** For a schema that is too long to show. The reference is public, so it does not show what an app declares. */
export function WholeSchema({ type }: { readonly type: EventType }): JSX.Element {
  const { event, source, contract } = type;
  const href =
    source === 'declared'
      ? `/event-types/${encodeURIComponent(event)}`
      : withQuery('/docs', { contract });
  return (
    <>
      The schema is longer.{' '}
      <a href={href} target="_blank" rel="noreferrer">
        View all of it
      </a>
      .
    </>
  );
}
