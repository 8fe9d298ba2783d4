// Changes what a subscription chooses for itself. It sends only what was changed since the dialog opened,
// and what the service refuses stands at its field.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { useAction } from '../action.ts';
import { send, type ApiProblem } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { ProblemNotice } from '../components/notice.tsx';
import type { Subscription } from '../shapes.ts';
import { sayDone } from '../toasts.ts';
import { subscriptionPath } from './acts.tsx';
import { faultOf, isElsewhere } from './settings-faults.ts';
import { eventsRule, rules, SettingsFields, type FieldName } from './settings-fields.tsx';
import { changesOf, wishOf, type Faults, type Wish } from './settings-wish.ts';

export function ChangeSettings({
  subscription,
  onChange,
  onClose,
}: {
  readonly subscription: Subscription;
  readonly onChange: (changed: Subscription) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const id = useId();
  // As it was when the dialog opened: it may be read anew meanwhile, and nobody chose that here.
  const opened = useRef(subscription).current;
  const before = useRef(wishOf(opened)).current;
  const wish = useSignal<Wish>(before);
  const faults = useSignal<Faults>({});
  const sent = useSignal<readonly number[]>([]);
  const act = useAction(
    async () => {
      const changes = changesOf(before, wish.value);
      faults.value = changes.kind === 'faulty' ? changes.faults : {};
      if (changes.kind === 'faulty') return;
      if (changes.kind === 'changes') {
        sent.value = changes.positions;
        const { json } = changes;
        onChange(await send<Subscription>('PATCH', subscriptionPath(opened.id), { json }));
        sayDone('Changed, for what is sent from now on.');
      }
      onClose();
    },
    { quiet: true },
  );
  const errors = act.problem?.errors ?? [];
  const body = useShownFault([act.problem, faults.value]);
  return (
    <Dialog
      title="Change settings"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep as it is</Button>
          <Button kind="primary" type="submit" form={id} isBusy={act.isBusy}>
            Save
          </Button>
        </>
      }
    >
      <form
        id={id}
        class="stack"
        ref={body}
        onSubmit={(event) => {
          event.preventDefault();
          act.run();
        }}
      >
        <Rest problem={act.problem} sent={sent.value} />
        <SettingsFields
          subscription={opened}
          wish={wish.value}
          faultOf={(name: FieldName) => own(faults.value, name) ?? faultOf(errors, rules[name])}
          eventsFaultOf={(position) => eventsFault(act.problem, sent.value.indexOf(position))}
          onChange={(changed) => (wish.value = { ...wish.value, ...changed })}
        />
      </form>
    </Dialog>
  );
}

function own(faults: Faults, name: FieldName): string | undefined {
  return name === 'filter' || name === 'headers' ? faults[name] : undefined;
}

/** The service counts the callbacks of the request, which are not all there are. */
function eventsFault(problem: ApiProblem | undefined, at: number): string | undefined {
  return problem === undefined || at === -1 ? undefined : faultOf(problem.errors, eventsRule(at));
}

/** What belongs to none of the fields. */
function Rest({
  problem,
  sent,
}: {
  readonly problem: ApiProblem | undefined;
  readonly sent: readonly number[];
}): JSX.Element | null {
  if (problem === undefined) return null;
  const shown = [...Object.values(rules), ...sent.map((_, at) => eventsRule(at))];
  const isAtFields =
    problem.errors.length > 0 && !problem.errors.some((one) => isElsewhere(one, shown));
  return isAtFields ? null : <ProblemNotice problem={problem} />;
}

/** The form is longer than most screens: the first fault comes into sight, and a field gets the focus. */
function useShownFault(causes: readonly unknown[]): { current: HTMLFormElement | null } {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const field = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    if (field) field.focus();
    else form.current?.querySelector('.notice.bad')?.scrollIntoView({ block: 'nearest' });
  }, causes);
  return form;
}
