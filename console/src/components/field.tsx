// Inputs with a label, a hint and an error, associated for screen readers too.
import './field.css';
import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { UntrustedText } from './untrusted-text.tsx';

type FieldProps = {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  /** For filters whose purpose is clear from the layout. Screen readers still get the label. */
  readonly isLabelHidden?: boolean;
};

type InputProps = FieldProps & {
  readonly value: string;
  /** Without it the field keeps its own draft and reports it through `onChange`. */
  readonly onInput?: (value: string) => void;
  readonly onChange?: (value: string) => void;
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly isMono?: boolean;
  readonly maxLength?: number;
  readonly autocomplete?: string;
  /** The on-screen keyboard of phones. */
  readonly inputMode?: 'decimal' | 'numeric';
  /** Receives the focus when its dialog opens. */
  readonly isFocused?: boolean;
  readonly inputRef?: { current: HTMLInputElement | null };
};

export function TextField(props: InputProps): JSX.Element {
  const id = useId();
  return (
    <Field {...props} id={id}>
      <input {...useInputProps(id, props)} type="text" />
    </Field>
  );
}

/** For secrets: the input is masked. */
export function SecretField(props: InputProps): JSX.Element {
  const id = useId();
  return (
    <Field {...props} id={id}>
      <input {...useInputProps(id, props)} type="password" />
    </Field>
  );
}

type Suggestion = { readonly value: string; readonly label?: string | undefined };

/** With suggestions; other text is accepted too. */
export function SuggestField({
  options,
  ...props
}: InputProps & { readonly options: readonly Suggestion[] }): JSX.Element {
  const id = useId();
  return (
    <Field {...props} id={id}>
      <input {...useInputProps(id, props)} type="text" list={`${id}-list`} />
      <datalist id={`${id}-list`}>
        {options.map(({ value, label }) => (
          <option key={value} value={value} label={label} />
        ))}
      </datalist>
    </Field>
  );
}

export function NumberField({
  min,
  max,
  ...props
}: InputProps & { readonly min: number; readonly max: number }): JSX.Element {
  const id = useId();
  return (
    <Field {...props} id={id}>
      <input {...useInputProps(id, props)} type="number" min={min} max={max} />
    </Field>
  );
}

/** A local time as the browser writes it: `2026-11-02T10:30`. */
export function TimeField(props: InputProps): JSX.Element {
  const id = useId();
  return (
    <Field {...props} id={id}>
      <input {...useInputProps(id, props)} type="datetime-local" />
    </Field>
  );
}

export function TextArea({
  value,
  onInput,
  rows = 8,
  placeholder,
  areaRef,
  ...props
}: FieldProps & {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly rows?: number;
  readonly placeholder?: string;
  readonly areaRef?: { current: HTMLTextAreaElement | null };
}): JSX.Element {
  const id = useId();
  return (
    <Field {...props} id={id}>
      <textarea
        id={id}
        ref={areaRef ?? null}
        class="input mono"
        rows={rows}
        placeholder={placeholder}
        value={value}
        spellcheck={false}
        {...describedBy(id, props)}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Field>
  );
}

export function Select({
  value,
  options,
  onChange,
  isLong = false,
  ...props
}: FieldProps & {
  /** Options may be wider than a phone: they are truncated, and the title holds the full text. */
  readonly isLong?: boolean;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly text: string }[];
  readonly onChange: (value: string) => void;
}): JSX.Element {
  const id = useId();
  return (
    <Field {...props} id={id}>
      <select
        id={id}
        class="input select"
        value={value}
        title={isLong ? options.find((one) => one.value === value)?.text : undefined}
        {...describedBy(id, props)}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </Field>
  );
}

export function Checkbox({
  label,
  hint,
  isChecked,
  isDisabled = false,
  onChange,
}: {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly isChecked: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (isChecked: boolean) => void;
}): JSX.Element {
  const id = useId();
  return (
    <div class="checkbox">
      <input
        id={id}
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint === undefined ? null : (
        <p id={`${id}-hint`} class="field-hint">
          {hint}
        </p>
      )}
    </div>
  );
}

function Field({
  id,
  label,
  hint,
  error,
  isLabelHidden = false,
  children,
}: FieldProps & { readonly id: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? 'off-screen' : 'field-label'}>
        {label}
      </label>
      {children}
      {hint === undefined ? null : (
        <p id={`${id}-hint`} class="field-hint">
          {hint}
        </p>
      )}
      {error === undefined ? null : (
        <p id={`${id}-error`} class="field-error" role="alert">
          <UntrustedText text={error} />
        </p>
      )}
    </div>
  );
}

function describedBy(
  id: string,
  { hint, error }: FieldProps,
): { 'aria-describedby'?: string; 'aria-invalid'?: 'true' } {
  const ids = [
    hint === undefined ? '' : `${id}-hint`,
    error === undefined ? '' : `${id}-error`,
  ].filter((one) => one !== '');
  return {
    ...(ids.length === 0 ? {} : { 'aria-describedby': ids.join(' ') }),
    ...(error === undefined ? {} : { 'aria-invalid': 'true' }),
  };
}

function useInputProps(id: string, props: InputProps) {
  const { onChange, isRequired, maxLength, placeholder, inputMode } = props;
  const { value, onInput } = useDraft(props);
  return {
    id,
    class: `input${props.isMono === true ? ' mono' : ''}`,
    value,
    ref: props.inputRef ?? null,
    required: isRequired === true,
    autocomplete: props.autocomplete ?? 'off',
    autofocus: props.isFocused === true,
    spellcheck: false,
    ...(placeholder === undefined ? {} : { placeholder }),
    ...(maxLength === undefined ? {} : { maxLength }),
    ...(inputMode === undefined ? {} : { inputMode }),
    ...describedBy(id, props),
    onInput: (event: Event) => onInput(textIn(event)),
    onChange: (event: Event) => onChange?.(textIn(event)),
  };
}

/** Re-rendering the page must not discard what is being typed. */
function useDraft({ value, onInput }: InputProps): {
  readonly value: string;
  readonly onInput: (value: string) => void;
} {
  const draft = useSignal(value);
  useEffect(() => {
    draft.value = value;
  }, [value]);
  if (onInput !== undefined) return { value, onInput };
  return { value: draft.value, onInput: (text) => (draft.value = text) };
}

function textIn({ currentTarget }: Event): string {
  return currentTarget instanceof HTMLInputElement ? currentTarget.value : '';
}
