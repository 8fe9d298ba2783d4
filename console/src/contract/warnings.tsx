// What was repaired in a contract, what is ignored, and what cannot run, each with its location.
import type { JSX } from 'preact';
import type { ContractReport } from '../../../src/client/contract/service.ts';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/list-states.tsx';
import { Notice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { Section } from '../components/page.tsx';

export function CannotRun({ reasons }: { reasons: readonly string[] }): JSX.Element | null {
  if (reasons.length === 0) return null;
  return (
    <Notice tone="bad" title="Parts of this contract cannot run">
      <ul class="notice-list">
        {reasons.map((reason) => (
          <li key={reason}>
            <UntrustedText text={reason} />
          </li>
        ))}
      </ul>
    </Notice>
  );
}

export function WarningsSection({
  warnings,
}: {
  warnings: ContractReport['warnings'];
}): JSX.Element {
  return (
    <Section title="Warnings and repairs" isFlush>
      {warnings.length === 0 ? (
        <Empty icon="check" title="No warnings">
          <p>The contract is executed as written.</p>
        </Empty>
      ) : (
        <ul class="contract-warnings">
          {warnings.map(({ kind, file, pointer, message }, at) => (
            <li key={at}>
              {kind === 'repair' ? (
                <Badge tone="info" icon="check" text="Repaired" />
              ) : (
                <Badge tone="warn" icon="alert" text="Warning" />
              )}
              <div>
                <UntrustedText text={message} />
                <p class="soft">
                  <UntrustedText text={`${file ?? ''}${pointer}`} mono />
                </p>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
