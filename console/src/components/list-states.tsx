// The four states of a list that shows no rows: loading, failed, nothing fits, nothing there yet.
import './list-states.css';
import type { ComponentChildren, JSX } from 'preact';
import type { ApiProblem } from '../api.ts';
import { Button, LinkButton } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';
import { ProblemNotice } from './notice.tsx';

/** Grey rows in place of those to come; said once to readers. */
export function Skeleton({ rows = 6 }: { rows?: number }): JSX.Element {
  return (
    <div class="skeleton" role="status">
      <span class="off-screen">Loading…</span>
      {Array.from({ length: rows }, (_, at) => (
        <span key={at} class="skeleton-row" />
      ))}
    </div>
  );
}

export function Failed({
  problem,
  onRetry,
}: {
  problem: ApiProblem;
  onRetry: () => void;
}): JSX.Element {
  return (
    <ProblemNotice problem={problem}>
      <p class="notice-actions">
        <Button size="small" icon="replay" onClick={onRetry}>
          Try again
        </Button>
      </p>
    </ProblemNotice>
  );
}

/** There is something, but the filters let nothing through. */
export function NoMatch({ what, clearHref }: { what: string; clearHref: string }): JSX.Element {
  return (
    <Empty icon="search" title={`No ${what} match`}>
      <p>Widen the time or take filters away.</p>
      <p class="empty-actions">
        <LinkButton href={clearHref}>Clear filters</LinkButton>
      </p>
    </Empty>
  );
}

/** Nothing there yet: the children say what to do next. */
export function Empty({
  icon,
  title,
  children,
}: {
  icon: IconName;
  title: string;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** The foot of a list that is read page by page. */
export function LoadMore({
  hasMore,
  isLoading,
  shown,
  what,
  onMore,
}: {
  hasMore: boolean;
  isLoading: boolean;
  shown: number;
  what: string;
  onMore: () => void;
}): JSX.Element {
  return (
    <div class="load-more">
      <span class="soft">
        {shown} {what} shown{hasMore ? '' : ', that is all'}
      </span>
      {hasMore ? (
        <Button isBusy={isLoading} onClick={onMore}>
          Load more
        </Button>
      ) : null}
    </div>
  );
}
