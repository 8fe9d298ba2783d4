// A part of a drawer or dialog with a heading of its own.
import './part.css';
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

export function Part({
  title,
  aside,
  children,
}: {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  const id = useId();
  return (
    <section class="part" aria-labelledby={id}>
      <header class="part-head">
        <h3 id={id}>{title}</h3>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** Facts as names and values. */
export function Facts({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <dl class="facts">{children}</dl>;
}

export function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
