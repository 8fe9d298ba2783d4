// The frame of a page: its heading, which also sets the document title, its actions and its
// sections.
import './page.css';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { words } from '../words.ts';

export function PageHeader({
  title,
  note,
  children,
}: {
  readonly title: string;
  readonly note?: ComponentChildren;
  /** Buttons on the right. */
  readonly children?: ComponentChildren;
}): JSX.Element {
  useEffect(() => {
    document.title = `${title} · ${words().product}`;
  }, [title]);
  return (
    <header class="page-head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {note === undefined ? null : <p class="soft">{note}</p>}
      </div>
      {children === undefined ? null : <div class="page-actions">{children}</div>}
    </header>
  );
}

/** A section of a page with a heading, drawn as a card. */
export function Section({
  title,
  children,
  actions,
  isFlush = false,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** The content extends to the edges, as for tables. */
  readonly isFlush?: boolean;
}): JSX.Element {
  const id = useId();
  return (
    <section class={`section${isFlush ? ' flush' : ''}`} aria-labelledby={id}>
      <header class="section-head">
        <h2 id={id}>{title}</h2>
        {actions}
      </header>
      <div class="section-body">{children}</div>
    </section>
  );
}
