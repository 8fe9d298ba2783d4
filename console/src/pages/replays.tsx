// Replays: many deliveries sent again, counted before and observed while running.
import '../replays/replays.css';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { get, withQuery } from '../api.ts';
import { LinkButton } from '../components/button.tsx';
import { Empty } from '../components/list-states.tsx';
import { NewRowsButton } from '../components/new-rows-button.tsx';
import { PageHeader, Section } from '../components/page.tsx';
import { ListTable } from '../components/list-table.tsx';
import { limits } from '../limits.ts';
import { useList, type List } from '../list.ts';
import { useListUpdates } from '../list-updates.ts';
import { useIsInteracting } from '../interaction.ts';
import { replayColumns, replayHref } from '../replays/columns.tsx';
import { ReplayDrawer } from '../replays/drawer.tsx';
import { ReplayForm } from '../replays/form.tsx';
import { mergeReplays } from '../replays/live-replays.ts';
import { noValues } from '../replays/form-values.ts';
import { hrefWith, param, setParams } from '../router.ts';
import { can } from '../session.ts';
import type { Page } from '../list.ts';
import type { Replay } from '../../../src/client/contract/delivery.ts';
import { useFrames, usePolling } from '../stream.ts';

export function ReplaysPage(): JSX.Element {
  const list = useReplays();
  const rows = useRef<HTMLDivElement>(null);
  const updates = useListUpdates(useIsInteracting(rows), list.reload);
  useFrames(({ replays, isReset }) => {
    const shown = new Set(list.items.map(({ id }) => id));
    // Shown rows update in place, even while the user interacts; the row order does not change.
    list.change((items) =>
      mergeReplays(
        items,
        replays.filter(({ id }) => shown.has(id)),
      ),
    );
    const newest = list.items[0]?.id ?? '';
    const fresh = replays.filter(({ id }) => id > newest).length;
    if (fresh > 0 || isReset) updates.note(fresh);
  });
  usePolling(list.reload);
  const openId = param('replay');
  const change = (changed: Replay): void => list.change((items) => mergeReplays(items, [changed]));
  return (
    <>
      <PageHeader title="Replays" note="Finished deliveries, sent again">
        {can('retry') ? (
          <LinkButton kind="primary" icon="replay" href={hrefWith({ new: 1, replay: undefined })}>
            New replay
          </LinkButton>
        ) : null}
      </PageHeader>
      <Section title="Latest replays" actions={<NewRowsButton rows={updates} />} isFlush>
        <div ref={rows} class="replay-rows">
          <ListTable
            list={list}
            nouns={['replay', 'replays']}
            columns={replayColumns}
            hrefOf={replayHref}
            selectedId={openId}
            empty={<NoneYet />}
          />
        </div>
      </Section>
      {param('new') === undefined || !can('retry') ? null : (
        <ReplayForm
          onStarted={(replay) => {
            change(replay);
            setParams({ ...noValues, replay: replay.id }, { replace: true });
          }}
          onClose={() => setParams(noValues)}
        />
      )}
      {openId === undefined || param('new') !== undefined ? null : (
        <ReplayDrawer
          key={openId}
          id={openId}
          onChange={change}
          onClose={() => setParams({ replay: undefined })}
        />
      )}
    </>
  );
}

function useReplays(): List<Replay> {
  return useList<Replay>('replays', (cursor, signal) => {
    const query = { cursor, limit: limits.pageItems };
    return get<Page<Replay>>('/replays', { query, ...(signal ? { signal } : {}) });
  });
}

function NoneYet(): JSX.Element {
  return (
    <Empty icon="replay" title="No replays yet">
      <p>After an outage of a receiver, a replay sends the missed deliveries again.</p>
      {can('retry') ? (
        <p class="empty-actions">
          <LinkButton kind="primary" icon="replay" href={hrefWith({ new: 1 })}>
            New replay
          </LinkButton>
          <LinkButton href={withQuery('/console/deliveries', { state: 'dead' })}>
            View dead deliveries
          </LinkButton>
        </p>
      ) : (
        <p>To start one, sign in with a key that has the “admin” scope.</p>
      )}
    </Empty>
  );
}
