// Radio buttons with a hint each.
import './radio-group.css';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

export type RadioOption<T extends string> = {
  readonly value: T;
  readonly text: string;
  readonly hint: string;
};

export function RadioGroup<T extends string>({
  label,
  ways,
  chosen,
  onChoose,
}: {
  readonly label: string;
  readonly ways: readonly RadioOption<T>[];
  readonly chosen: T;
  readonly onChoose: (value: T) => void;
}): JSX.Element {
  const id = useId();
  return (
    <fieldset class="choice">
      <legend class="field-label">{label}</legend>
      {ways.map(({ value, text, hint }) => (
        <label key={value} class="choice-way">
          <input
            type="radio"
            name={id}
            checked={value === chosen}
            aria-describedby={`${id}-${value}`}
            onChange={() => onChoose(value)}
          />
          <span>
            {text}
            <span id={`${id}-${value}`} class="field-hint">
              {hint}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
