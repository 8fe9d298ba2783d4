// Creates a key: name, scopes and expiry. Then shows its secret, once.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useAction } from '../action.ts';
import { send } from '../api.ts';
import { nowMs } from '../clock.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Checkbox, Select, TextField, TimeField } from '../components/field.tsx';
import { Notice, ProblemNotice } from '../components/notice.tsx';
import { can } from '../session.ts';
import type { KeyOnce } from '../../../src/client/contract/access.ts';
import type { Scope } from './scopes.ts';
import { expiresAt, expiries } from './expiry.ts';
import { SecretOnce } from './secret-once.tsx';
import { scopesInOrder, scopeWords } from './scopes.ts';

export function NewKey({
  onMade,
  onClose,
}: {
  readonly onMade: () => void;
  readonly onClose: () => void;
}): JSX.Element {
  const made = useSignal<KeyOnce | undefined>(undefined);
  if (made.value !== undefined) {
    return <SecretOnce title="Key created" secret={made.value.key} onClose={onClose} />;
  }
  return (
    <Form
      onMade={(key) => {
        made.value = key;
        onMade();
      }}
      onClose={onClose}
    />
  );
}

function Form({
  onMade,
  onClose,
}: {
  readonly onMade: (key: KeyOnce) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const values = useSignal<FormValues>(initialValues);
  const errors = useSignal<FormErrors>({});
  const act = useAction(
    async () => {
      const { name, scopes, expiry, at } = values.value;
      const until = expiresAt(expiry, at, nowMs());
      const rest = until === undefined ? {} : { expiresAt: until };
      const body = { name: name.trim(), scopes: scopesInOrder(scopes), ...rest };
      onMade(await send<KeyOnce>('POST', '/keys', { body }));
    },
    { quiet: true },
  );
  const submit = (): void => {
    errors.value = errorsIn(values.value);
    if (Object.keys(errors.value).length === 0) act.run();
  };
  const isAtRefused = act.problem?.of('body#/expiresAt') !== undefined;
  const shown = { ...(isAtRefused ? { at: 'Choose a time in the future.' } : {}), ...errors.value };
  return (
    <Dialog
      title="New key"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" isBusy={act.isBusy} onClick={submit}>
            Create key
          </Button>
        </>
      }
    >
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Fields
          values={values.value}
          errors={shown}
          onChange={(changes) => (values.value = { ...values.value, ...changes })}
        />
      </form>
      {act.problem === undefined || isAtRefused ? null : <ProblemNotice problem={act.problem} />}
    </Dialog>
  );
}

type FormValues = {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** One of the expiry choices, and the time for the last of them. */
  readonly expiry: string;
  readonly at: string;
};

type FormErrors = { readonly name?: string; readonly scopes?: string; readonly at?: string };

const initialValues: FormValues = {
  name: '',
  scopes: ['publish', 'read'],
  expiry: 'never',
  at: '',
};

function errorsIn({ name, scopes, expiry, at }: FormValues): FormErrors {
  return {
    ...(name.trim() === '' ? { name: 'Enter a name.' } : {}),
    ...(scopes.length === 0 ? { scopes: 'Select at least one scope.' } : {}),
    ...(expiry === 'at' && at === '' ? { at: 'Choose a time.' } : {}),
  };
}

function Fields({
  values,
  errors,
  onChange,
}: {
  readonly values: FormValues;
  readonly errors: FormErrors;
  readonly onChange: (changes: Partial<FormValues>) => void;
}): JSX.Element {
  return (
    <>
      <TextField
        label="Name"
        hint="The application or person that uses the key."
        value={values.name}
        placeholder="Shop, production"
        maxLength={128}
        isFocused
        error={errors.name}
        onInput={(name) => onChange({ name })}
      />
      <ScopeBoxes
        chosen={values.scopes}
        error={errors.scopes}
        onChange={(scopes) => onChange({ scopes })}
      />
      <Select
        label="Expires"
        value={values.expiry}
        options={expiries}
        onChange={(expiry) => onChange({ expiry })}
      />
      {values.expiry === 'at' ? (
        <TimeField
          label="Expires at"
          hint="In your local time."
          value={values.at}
          error={errors.at}
          onInput={(at) => onChange({ at })}
        />
      ) : null}
    </>
  );
}

function ScopeBoxes({
  chosen,
  error,
  onChange,
}: {
  readonly chosen: readonly Scope[];
  readonly error: string | undefined;
  readonly onChange: (chosen: readonly Scope[]) => void;
}): JSX.Element {
  // A key can only grant scopes that it has itself.
  const offered = scopeWords.filter(({ scope }) => can(scope));
  return (
    <fieldset class="choice">
      <legend class="field-label">Scopes</legend>
      {offered.map(({ scope, hint }) => (
        <Checkbox
          key={scope}
          label={scope}
          hint={hint}
          isChecked={chosen.includes(scope)}
          onChange={(isChecked) =>
            onChange(isChecked ? [...chosen, scope] : chosen.filter((one) => one !== scope))
          }
        />
      ))}
      {error === undefined ? null : (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
      {chosen.includes('admin') ? (
        <Notice tone="quiet">
          <p>A key with the “admin” scope can create keys with any other scope of this app.</p>
        </Notice>
      ) : null}
    </fieldset>
  );
}
