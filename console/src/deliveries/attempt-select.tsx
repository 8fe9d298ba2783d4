// Selects the attempt that the tabs show, if there are several.
import type { JSX } from 'preact';
import { Select } from '../components/field.tsx';
import { dateTime } from '../format.ts';
import { outcomeLabel } from '../outcome-label.ts';
import { setParams } from '../router.ts';
import type { Attempt } from '../../../src/client/contract/delivery.ts';

export function AttemptSelect({
  attempts,
  chosen,
}: {
  readonly attempts: readonly Attempt[];
  readonly chosen: Attempt | undefined;
}): JSX.Element | null {
  if (attempts.length < 2 || chosen === undefined) return null;
  return (
    <Select
      label="Attempt"
      isLong
      value={attemptNumber(chosen)}
      options={attempts.map((one) => ({ value: attemptNumber(one), text: textOf(one) }))}
      onChange={(attempt) => setParams({ attempt }, { replace: true })}
    />
  );
}

/** `att_…_0_2` is attempt 2. */
export function attemptNumber({ id }: Attempt): string {
  return id.slice(id.lastIndexOf('_') + 1);
}

/** The duration is shown below: a phone has no room for it here. */
function textOf(attempt: Attempt): string {
  const when = dateTime(Date.parse(attempt.startedAt));
  const how = outcomeLabel(attempt) ?? 'no response';
  return `${attemptNumber(attempt)} – ${how}, ${when}`;
}
