// One number with its name and a note.
import './stat.css';
import type { ComponentChildren, JSX } from 'preact';

export function Stat({
  name,
  value,
  note,
  tone = 'quiet',
}: {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly tone?: 'quiet' | 'warn' | 'bad';
}): JSX.Element {
  return (
    <div class={`stat ${tone}`}>
      <dt>{name}</dt>
      <dd class="stat-value">{value}</dd>
      {note === undefined ? null : <dd class="stat-note">{note}</dd>}
    </div>
  );
}

export function Stats({ children }: { children: ComponentChildren }): JSX.Element {
  return <dl class="stats">{children}</dl>;
}
