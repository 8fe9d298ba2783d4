// Where a payload is written: checked as it is typed, with every flaw at its line and column.
import type { JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { TextArea } from '../components/field.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { indented } from '../json-text.ts';
import { limits } from '../limits.ts';
import type { FieldError } from '../field-error.ts';
import { checkJson, lineAndColumn, type JsonCheck } from './json-check.ts';

export function PayloadField({
  text,
  errors,
  onInput,
}: {
  readonly text: string;
  /** What the service says, by JSON pointers into the payload. */
  readonly errors: readonly FieldError[];
  readonly onInput: (text: string) => void;
}): JSX.Element {
  const area = useRef<HTMLTextAreaElement>(null);
  const check = useMemo(() => checkJson(text), [text]);
  const flaws = flawsOf(check, errors, text);
  const goTo = ({ from, to }: Flaw): void => {
    area.current?.focus();
    area.current?.setSelectionRange(from, to);
  };
  const pretty = check.kind === 'right' ? indented(text, { isCut: false }) : undefined;
  return (
    <div class="payload">
      <TextArea
        label="Payload (JSON)"
        value={text}
        rows={14}
        areaRef={area}
        error={flaws.length === 0 ? undefined : sentence(flaws[0])}
        onInput={onInput}
      />
      {flaws.length < 2 ? null : (
        <ul class="payload-flaws">
          {flaws.slice(1, limits.flawsMax).map((flaw) => (
            <li key={flaw.message + flaw.pointer} class="field-error">
              <UntrustedText text={sentence(flaw)} />
            </li>
          ))}
        </ul>
      )}
      <div class="cluster">
        {flaws[0] === undefined ? null : (
          <Button
            size="small"
            onClick={() => (flaws[0] === undefined ? undefined : goTo(flaws[0]))}
          >
            Go to the mistake
          </Button>
        )}
        {pretty === undefined || pretty === text ? null : (
          <Button size="small" onClick={() => onInput(pretty)}>
            Indent
          </Button>
        )}
      </div>
    </div>
  );
}

type Flaw = {
  readonly message: string;
  readonly pointer: string | undefined;
  readonly from: number;
  readonly to: number;
  readonly line: number;
  readonly column: number;
};

function flawsOf(check: JsonCheck, errors: readonly FieldError[], text: string): readonly Flaw[] {
  if (check.kind === 'wrong') {
    const { message, at } = check;
    const place = { from: at, to: Math.min(at + 1, text.length), ...lineAndColumn(text, at) };
    return [{ message, pointer: undefined, ...place }];
  }
  return errors.map(({ field, message }) => {
    const { from, to } = check.places.get(field) ?? { from: 0, to: text.length };
    return { message, pointer: field, from, to, ...lineAndColumn(text, from) };
  });
}

function sentence(flaw: Flaw | undefined): string {
  if (flaw === undefined) return '';
  const { line, column, pointer, message } = flaw;
  const what =
    pointer === undefined ? message : `${pointer === '' ? 'The payload' : pointer} ${message}`;
  return `Line ${line}, column ${column}: ${what}.`;
}
