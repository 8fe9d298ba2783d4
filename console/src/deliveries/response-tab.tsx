// What came back: status, headers and body, with a word where not all of it was kept.
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
        <strong>{outcomeLabel(attempt) ?? 'No answer'}</strong>{' '}
        <span class="soft">after {duration(attempt.tookMs)}</span>
      </p>
      {warning === undefined ? null : (
        <Notice tone="warn" title="Not as the contract says">
          <p>
            <UntrustedText text={warning} />
          </p>
        </Notice>
      )}
      {response === undefined ? (
        <p>
          No answer came: <UntrustedText text={attempt.message ?? 'the request failed'} />.
        </p>
      ) : (
        <Answer response={response} />
      )}
    </>
  );
}

function Answer({ response }: { response: NonNullable<Attempt['response']> }): JSX.Element {
  const { headers, body, isCut } = response;
  return (
    <>
      <DrawerSection title="Headers">
        <HeadersTable label="Response headers" headers={Object.entries(headers)} />
      </DrawerSection>
      <DrawerSection title="Body">
        {body === '' ? (
          <p class="soft">{isCut ? 'None of the body was kept.' : 'The answer has no body.'}</p>
        ) : (
          <Code text={body} label="response body" isCut={isCut} />
        )}
        {isCut ? (
          <p class="soft">
            The answer is longer: of a failure the first 16 KiB are kept, of a success the first
            KiB.
          </p>
        ) : null}
        {body.includes('\ufffd') ? (
          <p class="soft">Bytes that are no UTF-8 text are shown as {'\ufffd'}.</p>
        ) : null}
      </DrawerSection>
    </>
  );
}

function nothingYet({ state }: Delivery): string {
  if (state === 'running') return 'The first attempt is under way: the answer appears here.';
  return state === 'due' ? 'Nothing was sent yet.' : 'Nothing was ever sent.';
}
