// A section of a drawer or dialog with its own heading.
import './drawer-section.css';
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

export function DrawerSection({
  title,
  actions,
  children,
}: {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  const id = useId();
  return (
    <section class="drawer-section" aria-labelledby={id}>
      <header class="drawer-section-head">
        <h3 id={id}>{title}</h3>
        {actions}
      </header>
      {children}
    </section>
  );
}

/** A list of names and values. */
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
