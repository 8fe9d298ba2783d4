// The request: method, URL, headers and body, byte for byte as it was published.
import type { JSX } from 'preact';
import { Code } from '../components/code.tsx';
import { Failed, Skeleton } from '../components/list-states.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { DrawerSection } from '../components/drawer-section.tsx';
import { bytes } from '../format.ts';
import { HeadersTable } from './headers-table.tsx';
import { curlRequest } from './curl-request.ts';
import type { AttemptRequest } from './attempt-request.ts';

export function RequestTab({ request }: { request: AttemptRequest }): JSX.Element {
  const { method, url, headers } = curlRequest(request);
  const isSent = request.attempt !== undefined;
  return (
    <>
      <p class="request-line">
        <span class="mono">{method}</span> <UntrustedText text={url} mono />
      </p>
      <DrawerSection title="Headers">
        {isSent ? <HeadersTable label="Request headers" headers={headers} /> : null}
        <p class="soft">
          {isSent
            ? 'Also sent: user-agent, accept, and webhook-signature, which is created for each attempt and not stored.'
            : 'No attempt has been made yet. Headers are created for each attempt.'}
        </p>
      </DrawerSection>
      <DrawerSection title="Body">
        <Body request={request} />
      </DrawerSection>
    </>
  );
}

function Body({ request: { payload, mediaType } }: { request: AttemptRequest }): JSX.Element {
  if (mediaType === undefined)
    return <p class="soft">The contract defines no body for this callback.</p>;
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
            {bytes(new Blob([payload.state.value]).size)}, identical in every attempt. Formatted for
            reading; copying gives the exact bytes that are sent.
          </p>
        </>
      );
  }
}
