// Tabs by the ARIA pattern: arrows move, only the selected tab is in the tab order.
import './tabs.css';
import type { ComponentChildren, JSX } from 'preact';
import { useId, useRef } from 'preact/hooks';

export type Tab = { readonly name: string; readonly title: string };

export function Tabs({
  label,
  tabs,
  chosen,
  onChoose,
  children,
}: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly onChoose: (name: string) => void;
  /** The panel of the selected tab. */
  readonly children: ComponentChildren;
}): JSX.Element {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent): void => {
    const at = tabs.findIndex((tab) => tab.name === chosen);
    const next = tabs[target(event.key, at, tabs.length)];
    if (next === undefined) return;
    event.preventDefault();
    onChoose(next.name);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.name}"]`)?.focus();
  };
  return (
    <div class="tabs">
      <div class="tab-list" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            data-tab={name}
            aria-selected={name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => onChoose(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div
        class="tab-panel"
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${chosen}`}
        tabIndex={0}
      >
        {children}
      </div>
    </div>
  );
}

function target(key: string, at: number, size: number): number {
  if (key === 'ArrowRight') return (at + 1) % size;
  if (key === 'ArrowLeft') return (at - 1 + size) % size;
  if (key === 'Home') return 0;
  return key === 'End' ? size - 1 : -1;
}
