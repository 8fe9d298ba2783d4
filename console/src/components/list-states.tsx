// The states of a list without rows: loading, failed, no match, empty.
import './list-states.css';
import type { ComponentChildren, JSX } from 'preact';
import type { ApiProblem } from '../api.ts';
import { words } from '../words.ts';
import { Button, LinkButton } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';
import { ProblemNotice } from './notice.tsx';

/** Placeholder rows; announced once to screen readers. */
export function Skeleton({ rows = 6 }: { rows?: number }): JSX.Element {
  return (
    <div class="skeleton" role="status">
      <span class="off-screen">{words().loading}</span>
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
          {words().tryAgain}
        </Button>
      </p>
    </ProblemNotice>
  );
}

/** Items exist, but the filters match none. */
export function NoMatch({ what, clearHref }: { what: string; clearHref: string }): JSX.Element {
  return (
    <Empty icon="search" title={`No ${what} match the filters`}>
      <p>Widen the time range or remove filters.</p>
      <p class="empty-actions">
        <LinkButton href={clearHref}>Clear filters</LinkButton>
      </p>
    </Empty>
  );
}

/** An empty list. The children say what to do next. */
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

/** The footer of a paged list. */
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
        {hasMore ? words().loaded(`${shown} ${what}`) : words().inTotal(`${shown} ${what}`)}
      </span>
      {hasMore ? (
        <Button isBusy={isLoading} onClick={onMore}>
          {words().loadMore}
        </Button>
      ) : null}
    </div>
  );
}
