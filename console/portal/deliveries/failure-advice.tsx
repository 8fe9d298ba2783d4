// Why an attempt failed, what to do, and what the endpoint responded.
import type { JSX } from 'preact';
import type { Attempt } from '../../../src/client/contract/delivery.ts';
import { Code } from '../../src/components/code.tsx';
import { UntrustedText } from '../../src/components/untrusted-text.tsx';
import { outcomeOf, type Failure } from '../failure.ts';
import { t } from '../language.ts';
import { Prose } from '../prose.tsx';

export function FailureAdvice({
  failure,
  attempt,
  isTitled = false,
}: {
  readonly failure: Failure;
  readonly attempt: Attempt | undefined;
  /** Shows the title of the failure; not in a notice that has it as its own. */
  readonly isTitled?: boolean;
}): JSX.Element {
  const body = attempt?.response?.body ?? '';
  return (
    <div class="advice">
      {isTitled ? (
        <p>
          <strong>{failure.title}</strong>
        </p>
      ) : null}
      {attempt?.message === undefined ? null : (
        <p class="soft">
          <UntrustedText text={attempt.message} />
        </p>
      )}
      <p>
        <strong>{t().whatToDo}:</strong> <Prose text={failure.fix} />
      </p>
      {attempt === undefined || body === '' ? null : (
        <>
          <p>
            {t().lastResponse} <strong>{outcomeOf(attempt)}</strong>
          </p>
          <Code
            text={body}
            label={t().delivery.responseBody}
            isCut={attempt.response?.isCut === true}
          />
        </>
      )}
    </div>
  );
}
