// A table that becomes a stack of cards on a phone. Rows that can be opened have one link, which Enter
// follows; in the console, `j` and `k` move between these links (step-row.ts).
import './table.css';
import type { ComponentChildren, JSX } from 'preact';

export type Column<T> = {
  readonly name: string;
  readonly title: string;
  readonly cell: (item: T) => ComponentChildren;
  readonly align?: 'end';
  /** Takes the remaining width and truncates its text. One or two per table. */
  readonly isWide?: boolean;
  /** The heading of the card on a phone, without its title. */
  readonly isHead?: boolean;
};

type TableProps<T> = {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
  readonly idOf: (item: T) => string;
  /** The target of a click on the row. A cell must link to the same address, marked `data-row`. */
  readonly hrefOf?: ((item: T) => string) | undefined;
  readonly selectedId?: string | undefined;
  readonly isStale?: boolean;
};

// Roles are explicit because the phone layout removes the implicit table roles.
export function Table<T>(props: TableProps<T>): JSX.Element {
  const { caption, columns, items, idOf } = props;
  return (
    <table class={`table${props.isStale === true ? ' stale' : ''}`} role="table">
      <caption class="off-screen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column.name} scope="col" role="columnheader" class={cellClass(column)}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {items.map((item) => (
          <Row key={idOf(item)} item={item} {...props} />
        ))}
      </tbody>
    </table>
  );
}

function Row<T>({
  item,
  columns,
  idOf,
  hrefOf,
  selectedId,
}: TableProps<T> & { readonly item: T }): JSX.Element {
  const isSelected = idOf(item) === selectedId;
  return (
    <tr
      role="row"
      class={`${hrefOf === undefined ? '' : 'opens'}${isSelected ? ' selected' : ''}`}
      onClick={hrefOf === undefined ? undefined : open}
    >
      {columns.map((column) => (
        <td key={column.name} role="cell" class={cellClass(column)} data-title={column.title}>
          <div>{column.cell(item)}</div>
        </td>
      ))}
    </tr>
  );
}

/** Forwards the click to the link of the row, so that there is one address and one behaviour. */
function open(event: MouseEvent): void {
  const at = event.target;
  if (!(at instanceof Element) || at.closest('a, button, input, label') !== null) return;
  if (getSelection()?.isCollapsed === false) return;
  const row = event.currentTarget;
  if (row instanceof Element) row.querySelector<HTMLAnchorElement>('a[data-row]')?.click();
}

function cellClass<T>({ name, align, isWide, isHead }: Column<T>): string {
  const classes = [`cell-${name}`];
  if (align === 'end') classes.push('end');
  if (isWide === true) classes.push('wide');
  if (isHead === true) classes.push('head');
  return classes.join(' ');
}
