// "12 new ▲": shows the rows that arrived while the user interacted with the list.
import type { JSX } from 'preact';
import { count } from '../format.ts';
import type { NewRows } from '../list-updates.ts';
import { Button } from './button.tsx';

export function NewRowsButton({ rows }: { rows: NewRows }): JSX.Element {
  const show = (): void => {
    scrollTo({ top: 0 });
    rows.show();
  };
  const label = labelFor(rows);
  return (
    <div role="status" class="new-items">
      {label === undefined ? null : (
        <Button kind="primary" size="small" onClick={show}>
          {label}
          <span aria-hidden="true"> ▲</span>
        </Button>
      )}
    </div>
  );
}

function labelFor({ count: size, isMore = false }: NewRows): string | undefined {
  if (size > 0) return `${count(size)}${isMore ? '+' : ''} new`;
  return isMore ? 'Show newest' : undefined;
}
