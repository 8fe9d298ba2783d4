// A text of the strings, with what is between backticks as code.
import type { JSX } from 'preact';

export function Prose({ text }: { readonly text: string }): JSX.Element {
  return (
    <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>
  );
}
