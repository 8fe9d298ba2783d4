// The form of an endpoint, new or existing: URL, events, description.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { Action } from '../../src/action.ts';
import { Button, LinkButton } from '../../src/components/button.tsx';
import { TextField } from '../../src/components/field.tsx';
import { ProblemNotice } from '../../src/components/notice.tsx';
import { RadioGroup } from '../../src/components/radio-group.tsx';
import { messageFor } from '../../src/subscriptions/problem-message.ts';
import { words } from '../../src/words.ts';
import { EventPicker } from '../events/picker.tsx';
import { t } from '../language.ts';
import { hasNoEvent, type EventChoice, type FormValues } from './form-values.ts';

type Props = {
  readonly values: FormValues;
  readonly onChange: (values: FormValues) => void;
  /** The text of the button. */
  readonly submit: string;
  readonly act: Action;
  readonly backHref: string;
};

export function EndpointForm({ values, onChange, submit, act, backHref }: Props): JSX.Element {
  const isChecked = useSignal(false);
  const form = useRef<HTMLFormElement>(null);
  const { problem } = act;
  const errors = isChecked.value ? errorsIn(values) : { urls: [], events: undefined };
  return (
    <form
      ref={form}
      class="card padded stack endpoint-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        isChecked.value = true;
        const found = errorsIn(values);
        if (found.events === undefined && found.urls.every((one) => one === undefined)) act.run();
        else requestAnimationFrame(() => focusError(form.current));
      }}
    >
      {values.urls.map((one, at) => (
        <TextField
          key={one.position}
          label={values.urls.length === 1 ? t().form.url : t().form.urlFor(one.label)}
          hint={t().form.urlHint}
          placeholder="https://example.com/webhooks"
          value={one.url}
          isRequired
          isMono
          isFocused={at === 0}
          error={errors.urls[at] ?? urlProblem(act, one.position)}
          onInput={(url) => onChange({ ...values, urls: values.urls.with(at, { ...one, url }) })}
        />
      ))}
      {values.events === undefined ? null : (
        <Events
          choice={values.events}
          error={errors.events}
          onChange={(events) => onChange({ ...values, events })}
        />
      )}
      <TextField
        label={`${t().form.description} (${t().optional})`}
        hint={t().form.descriptionHint}
        value={values.description}
        error={problem?.of('body#/description') ?? problem?.of('body#/x-ringback/description')}
        onInput={(description) => onChange({ ...values, description })}
      />
      {problem === undefined || isOfUrl(act) ? null : <ProblemNotice problem={problem} />}
      <p class="form-actions">
        <LinkButton href={backHref}>{words().cancel}</LinkButton>
        <Button type="submit" kind="primary" isBusy={act.isBusy}>
          {submit}
        </Button>
      </p>
    </form>
  );
}

function Events({
  choice,
  error,
  onChange,
}: {
  choice: EventChoice;
  error: string | undefined;
  onChange: (choice: EventChoice) => void;
}): JSX.Element {
  const { events, all, allHint, some, someHint } = t().form;
  return (
    <>
      <RadioGroup
        label={events}
        chosen={choice.isAll ? 'all' : 'some'}
        ways={[
          { value: 'all', text: all, hint: allHint },
          { value: 'some', text: some, hint: someHint },
        ]}
        onChoose={(way) => onChange({ ...choice, isAll: way === 'all' })}
      />
      {choice.isAll ? null : (
        <EventPicker
          chosen={choice.chosen}
          error={error}
          onChange={(chosen) => onChange({ ...choice, chosen })}
        />
      )}
    </>
  );
}

type Errors = {
  readonly urls: readonly (string | undefined)[];
  readonly events: string | undefined;
};

function errorsIn(values: FormValues): Errors {
  return {
    urls: values.urls.map(({ url }) =>
      URL.canParse(url.trim()) ? undefined : t().form.urlMissing,
    ),
    events: hasNoEvent(values) ? t().form.noneChosen : undefined,
  };
}

/** What the service says about the URL. */
function urlProblem({ problem }: Action, position: number): string | undefined {
  const field = urlFields(position).find((one) => problem?.of(one) !== undefined);
  return problem === undefined || field === undefined ? undefined : messageFor(problem, field);
}

function urlFields(position: number): readonly string[] {
  return ['body#/callbackUrl', `body#/callbacks/${position}/url`];
}

function isOfUrl(act: Action): boolean {
  const [first] = act.problem?.errors ?? [];
  return first !== undefined && /\/(?:callbackUrl|url|description)$/u.test(first.field);
}

function focusError(form: HTMLFormElement | null): void {
  const field = form?.querySelector<HTMLElement>('[aria-invalid="true"], .picker-error');
  field?.focus();
}
