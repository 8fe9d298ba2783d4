// The payload editor: validated while typing, with line and column of every error.
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
  /** Errors of the service, by JSON pointer into the payload. */
  readonly errors: readonly FieldError[];
  readonly onInput: (text: string) => void;
}): JSX.Element {
  const area = useRef<HTMLTextAreaElement>(null);
  const check = useMemo(() => checkJson(text), [text]);
  const issues = issuesIn(check, errors, text);
  const goTo = ({ from, to }: Issue): void => {
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
        error={issues.length === 0 ? undefined : sentence(issues[0])}
        onInput={onInput}
      />
      {issues.length < 2 ? null : (
        <ul class="payload-issues">
          {issues.slice(1, limits.payloadErrorsMax).map((issue) => (
            <li key={issue.message + issue.pointer} class="field-error">
              <UntrustedText text={sentence(issue)} />
            </li>
          ))}
        </ul>
      )}
      <div class="cluster">
        {issues[0] === undefined ? null : (
          <Button
            size="small"
            onClick={() => (issues[0] === undefined ? undefined : goTo(issues[0]))}
          >
            Go to error
          </Button>
        )}
        {pretty === undefined || pretty === text ? null : (
          <Button size="small" onClick={() => onInput(pretty)}>
            Format
          </Button>
        )}
      </div>
    </div>
  );
}

type Issue = {
  readonly message: string;
  readonly pointer: string | undefined;
  readonly from: number;
  readonly to: number;
  readonly line: number;
  readonly column: number;
};

function issuesIn(check: JsonCheck, errors: readonly FieldError[], text: string): readonly Issue[] {
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

function sentence(issue: Issue | undefined): string {
  if (issue === undefined) return '';
  const { line, column, pointer, message } = issue;
  const what =
    pointer === undefined ? message : `${pointer === '' ? 'The payload' : pointer} ${message}`;
  return `Line ${line}, column ${column}: ${what}.`;
}
