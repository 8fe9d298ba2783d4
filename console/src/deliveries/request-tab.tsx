// What was sent: method, URL, headers and the body, byte for byte as it was published.
import type { JSX } from 'preact';
import { Code } from '../components/code.tsx';
import { Failed, Skeleton } from '../components/list-states.tsx';
import { Outside } from '../components/outside.tsx';
import { bytes } from '../format.ts';
import { HeadersTable } from './headers-table.tsx';
import { requestOf } from './request-of.ts';
import type { Sending } from './sending.ts';

export function RequestTab({ sending }: { sending: Sending }): JSX.Element {
  const { method, url, headers } = requestOf(sending);
  const isSent = sending.attempt !== undefined;
  return (
    <>
      <p class="request-line">
        <span class="mono">{method}</span> <Outside text={url} mono />
      </p>
      <section class="stack-small">
        <h3>Headers</h3>
        {isSent ? <HeadersTable label="Request headers" headers={headers} /> : null}
        <p class="soft">
          {isSent
            ? 'Also sent: user-agent, accept, and webhook-signature, which is made anew for each attempt and not kept.'
            : 'Nothing was sent yet. Headers are made for each attempt.'}
        </p>
      </section>
      <section class="stack-small">
        <h3>Body</h3>
        <Body sending={sending} />
      </section>
    </>
  );
}

function Body({ sending: { payload, mediaType } }: { sending: Sending }): JSX.Element {
  if (mediaType === undefined)
    return <p class="soft">The contract sends this callback without a body.</p>;
  switch (payload.state.kind) {
    case 'loading':
      return <Skeleton rows={3} />;
    case 'failed':
      return <Failed problem={payload.state.problem} onRetry={payload.reload} />;
    case 'ready':
      return (
        <>
          <Code text={payload.state.value} label="request body" />
          <p class="soft">
            {bytes(new Blob([payload.state.value]).size)}, the same in every attempt. Indented for
            reading; what is copied is what was sent, byte for byte.
          </p>
        </>
      );
  }
}
