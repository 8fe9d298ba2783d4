// The fields of a new replay. Each is a parameter of the address.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { get, type ApiProblem } from '../api.ts';
import { NumberField, Select, SuggestField, TextField, TimeField } from '../components/field.tsx';
import { fromField, toField } from '../deliveries/local-time.ts';
import { readResult, resultSuggestions, resultText } from '../deliveries/result-text.ts';
import { useLoad } from '../load.ts';
import { setParams } from '../router.ts';
import type { EventType } from '../shapes.ts';
import { rateDefault, rateFault, rateMax, type Wish } from './wish.ts';

const states = [
  { value: 'dead', text: 'Dead: all tries failed' },
  { value: 'delivered', text: 'Delivered: sent once more' },
  { value: 'cancelled', text: 'Cancelled' },
  { value: 'ended', text: 'All that have ended' },
];

export function WishFields({
  wish,
  problem,
}: {
  readonly wish: Wish;
  readonly problem: ApiProblem | undefined;
}): JSX.Element {
  const faultOf = (name: string): string | undefined =>
    sentence(problem?.of(`body#/filter/${name}`));
  return (
    <div class="wish">
      <Select
        label="Deliveries"
        value={wish.state ?? 'dead'}
        options={states}
        onChange={(state) => set({ state })}
      />
      <SuggestField
        label="Event"
        hint="A name or a pattern. Empty: all events."
        value={wish.event ?? ''}
        placeholder="order.*"
        isMono
        maxLength={128}
        options={useEventNames()}
        error={faultOf('event')}
        onChange={(event) => set({ event: event.trim() })}
      />
      <TextField
        label="Subscription"
        hint="Empty: all subscriptions."
        value={wish.subscriberId ?? ''}
        placeholder="sub_…"
        isMono
        maxLength={64}
        error={faultOf('subscriberId')}
        onChange={(subscriberId) => set({ subscriberId: subscriberId.trim() })}
      />
      <ResultField wish={wish} />
      <TimeField
        label="Published from"
        hint="Your own time. Empty: from the first."
        value={toField(wish.from)}
        error={faultOf('from')}
        onChange={(from) => set({ from: fromField(from) })}
      />
      <TimeField
        label="Until"
        hint="Empty: until now."
        value={toField(wish.until)}
        error={faultOf('until')}
        onChange={(until) => set({ until: fromField(until) })}
      />
      <NumberField
        label="At most per second"
        hint="Slow enough for the receivers: 1 to 1000."
        value={wish.rate ?? String(rateDefault)}
        min={1}
        max={rateMax}
        error={rateFault(wish.rate)}
        onChange={(rate) => set({ rate })}
      />
    </div>
  );
}

function set(changes: Partial<Record<keyof Wish, string | undefined>>): void {
  setParams(changes, { replace: true });
}

function ResultField({ wish }: { wish: Wish }): JSX.Element {
  const fault = useSignal<string | undefined>(undefined);
  return (
    <SuggestField
      label="Code or error"
      hint="How the last attempt ended. Empty: any."
      value={resultText(wish)}
      placeholder="5xx, timeout"
      maxLength={32}
      options={resultSuggestions}
      error={fault.value}
      onChange={(text) => {
        const read = readResult(text);
        fault.value =
          read === undefined ? 'Expected a code like 404 or 5xx, or an error.' : undefined;
        if (read !== undefined) set({ status: read.status, error: read.error });
      }}
    />
  );
}

/** Suggestions only: without them any name can be typed all the same. */
function useEventNames(): readonly string[] {
  const types = useLoad('types', (signal) =>
    get<{ items: readonly EventType[] }>('/event-types', { signal }),
  );
  const names = (types.value?.items ?? []).map(({ event }) => event);
  return [...new Set(names)].filter((name) => !name.includes('{'));
}

function sentence(fault: string | undefined): string | undefined {
  return fault === undefined ? undefined : `This ${fault}.`;
}
