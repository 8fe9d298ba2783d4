// The callbacks that an event skips, because their schemas do not accept its payload.
import type { JSX } from 'preact';
import { Notice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { plural } from '../format.ts';
import type { SkippedCallbacks as Skipped } from '../../../src/client/contract/event.ts';

export function SkippedCallbacks({ skipped }: { skipped: Skipped | undefined }): JSX.Element {
  if (skipped === undefined) return <></>;
  const { count, first } = skipped;
  const what = plural(count, 'callback', 'callbacks');
  return (
    <Notice tone="info" title={`Skipped ${what}: the payload does not match the schema`}>
      <ul class="notice-list">
        {first.map(({ operationId, callback, reason }) => (
          <li key={operationId + callback}>
            <UntrustedText text={callback} mono /> of <UntrustedText text={operationId} mono />:{' '}
            <UntrustedText text={reason} />
          </li>
        ))}
        {count > first.length ? <li>and {count - first.length} more</li> : null}
      </ul>
    </Notice>
  );
}
