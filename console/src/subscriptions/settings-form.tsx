// Edits the settings of a subscription. It sends only what changed since the dialog opened, and
// shows errors at their fields.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { useAction } from '../action.ts';
import { send, type ApiProblem } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { ProblemNotice } from '../components/notice.tsx';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { toastSuccess } from '../toasts.ts';
import { subscriptionPath } from './actions.tsx';
import { errorAt, isNotAt } from './settings-errors.ts';
import { eventsRule, rules, SettingsFields, type FieldName } from './settings-fields.tsx';
import { changesOf, valuesOf, type FormErrors, type SettingsValues } from './settings-values.ts';

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
  // The subscription when the dialog opened. A reload meanwhile must not look like an edit.
  const opened = useRef(subscription).current;
  const before = useRef(valuesOf(opened)).current;
  const values = useSignal<SettingsValues>(before);
  const formErrors = useSignal<FormErrors>({});
  const sent = useSignal<readonly number[]>([]);
  const act = useAction(
    async () => {
      const changes = changesOf(before, values.value);
      formErrors.value = changes.kind === 'invalid' ? changes.formErrors : {};
      if (changes.kind === 'invalid') return;
      if (changes.kind === 'changes') {
        sent.value = changes.positions;
        const { json } = changes;
        onChange(await send<Subscription>('PATCH', subscriptionPath(opened.id), { json }));
        toastSuccess('Settings saved. They apply to new attempts.');
      }
      onClose();
    },
    { quiet: true },
  );
  const errors = act.problem?.errors ?? [];
  const body = useFirstErrorShown([act.problem, formErrors.value]);
  return (
    <Dialog
      title="Change settings"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
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
          values={values.value}
          errorAt={(name: FieldName) => own(formErrors.value, name) ?? errorAt(errors, rules[name])}
          eventsErrorAt={(position) => eventsError(act.problem, sent.value.indexOf(position))}
          onChange={(changed) => (values.value = { ...values.value, ...changed })}
        />
      </form>
    </Dialog>
  );
}

function own(formErrors: FormErrors, name: FieldName): string | undefined {
  return name === 'filter' || name === 'headers' ? formErrors[name] : undefined;
}

/** The service numbers the callbacks of the request, not of the subscription. */
function eventsError(problem: ApiProblem | undefined, at: number): string | undefined {
  return problem === undefined || at === -1 ? undefined : errorAt(problem.errors, eventsRule(at));
}

/** Problems that belong to none of the fields. */
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
    problem.errors.length > 0 && !problem.errors.some((one) => isNotAt(one, shown));
  return isAtFields ? null : <ProblemNotice problem={problem} />;
}

/** The form is longer than most screens: scroll to the first error and focus its field. */
function useFirstErrorShown(causes: readonly unknown[]): { current: HTMLFormElement | null } {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const field = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    if (field) field.focus();
    else form.current?.querySelector('.notice.bad')?.scrollIntoView({ block: 'nearest' });
  }, causes);
  return form;
}
