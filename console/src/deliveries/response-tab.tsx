// The response: status, headers and body, with a note where it was truncated.
import type { JSX } from 'preact';
import { Code } from '../components/code.tsx';
import { Notice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { DrawerSection } from '../components/drawer-section.tsx';
import { duration } from '../format.ts';
import { outcomeLabel } from '../outcome-label.ts';
import type { Attempt, Delivery } from '../../../src/client/contract/delivery.ts';
import { HeadersTable } from './headers-table.tsx';

export function ResponseTab({
  delivery,
  attempt,
}: {
  readonly delivery: Delivery;
  readonly attempt: Attempt | undefined;
}): JSX.Element {
  if (attempt === undefined) return <p class="soft">{nothingYet(delivery)}</p>;
  const { response, warning } = attempt;
  return (
    <>
      <p class="request-line">
        <strong>{outcomeLabel(attempt) ?? 'No response'}</strong>{' '}
        <span class="soft">after {duration(attempt.tookMs)}</span>
      </p>
      {warning === undefined ? null : (
        <Notice tone="warn" title="Response does not match the contract">
          <p>
            <UntrustedText text={warning} />
          </p>
        </Notice>
      )}
      {response === undefined ? (
        <p>
          No response: <UntrustedText text={attempt.message ?? 'the request failed'} />.
        </p>
      ) : (
        <Response response={response} />
      )}
    </>
  );
}

function Response({ response }: { response: NonNullable<Attempt['response']> }): JSX.Element {
  const { headers, body, isCut } = response;
  return (
    <>
      <DrawerSection title="Headers">
        <HeadersTable label="Response headers" headers={Object.entries(headers)} />
      </DrawerSection>
      <DrawerSection title="Body">
        {body === '' ? (
          <p class="soft">{isCut ? 'The body was not stored.' : 'The response has no body.'}</p>
        ) : (
          <Code text={body} label="response body" isCut={isCut} />
        )}
        {isCut ? (
          <p class="soft">
            Truncated: Ringback stores the first 16 KiB of a failed response and the first KiB of a
            successful one.
          </p>
        ) : null}
        {body.includes('\ufffd') ? (
          <p class="soft">Bytes that are not valid UTF-8 are shown as {'\ufffd'}.</p>
        ) : null}
      </DrawerSection>
    </>
  );
}

function nothingYet({ state }: Delivery): string {
  if (state === 'running') return 'The first attempt is in flight. Its response appears here.';
  return state === 'due' ? 'No attempt has been made yet.' : 'No attempt was made.';
}
