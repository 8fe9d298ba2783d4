// The nodes of the service: the processes that share this database.
import './node-list.css';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ListNodesAnswer } from '../../../src/client/contract/service.ts';
import { get } from '../api.ts';
import { Badge } from '../components/badge.tsx';
import { Failed, Skeleton } from '../components/list-states.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { Section } from '../components/page.tsx';
import { Time } from '../components/time.tsx';
import { limits } from '../limits.ts';
import { useLoad } from '../load.ts';
import { isPaused } from '../stream.ts';

const roles = { all: 'API and worker', api: 'API', worker: 'worker' } as const;

export function NodeList(): JSX.Element {
  const load = useLoad('nodes', (signal) => get<ListNodesAnswer>('/nodes', { signal }));
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && !isPaused.peek()) load.reload();
    }, limits.nodesEveryMs);
    return () => clearInterval(timer);
  }, []);
  const { state } = load;
  return (
    <Section title="Nodes" isFlush>
      {state.kind === 'loading' ? <Skeleton rows={2} /> : null}
      {state.kind === 'failed' ? <Failed problem={state.problem} onRetry={load.reload} /> : null}
      <ul class="rows nodes">
        {load.value?.items.map((node) => (
          <li key={node.name + node.startedAt}>
            <span class="cluster">
              <UntrustedText text={node.name} mono />
              {node.self ? <Badge tone="quiet" text="this node" /> : null}
            </span>
            <span class="soft">{roles[node.role]}</span>
            <span class="soft">
              version <UntrustedText text={node.version} />
            </span>
            <span class="soft">
              started <Time at={node.startedAt} />, last seen <Time at={node.lastSeenAt} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
