// Renders a resource that is loaded from the service: skeleton, error, or content.
import type { ComponentChildren, JSX } from 'preact';
import type { Load } from '../load.ts';
import { Failed, Skeleton } from './list-states.tsx';

export function Loaded<T>({
  load,
  children,
}: {
  readonly load: Load<T>;
  readonly children: (value: T) => ComponentChildren;
}): JSX.Element {
  const { state, reload } = load;
  switch (state.kind) {
    case 'loading':
      return <Skeleton />;
    case 'failed':
      return <Failed problem={state.problem} onRetry={reload} />;
    case 'ready':
      return <>{children(state.value)}</>;
  }
}
