// Shows replays to people: a line each, or one with all its figures.
import type { NewReplayFilter, Replay } from '../../client/client.ts';
import type { Column } from '../terminal/table.ts';
import { paintState, stateColumn, type View } from '../service/view.ts';

export function replayColumns({ paint, when }: View): Column<Replay>[] {
  return [
    { title: 'ID', show: ({ id }) => id },
    stateColumn(paint),
    { title: 'DONE', show: ({ progress }) => percent(progress), isRight: true, rank: 8 },
    { title: 'SENT', show: ({ replayed }) => String(replayed), isRight: true, rank: 7 },
    { title: 'SKIPPED', show: ({ skipped }) => String(skipped), isRight: true, rank: 4 },
    { title: 'STARTED', show: ({ createdAt }) => when(createdAt), rank: 5 },
    { title: 'FILTER', show: ({ filter }) => filterText(filter), rank: 6, shrinksTo: 12 },
  ];
}

export function showReplay(view: View, replay: Replay): string {
  const { paint, exactly } = view;
  const { id, state, filter } = replay;
  return view.facts([
    ['replay', id],
    ['state', state, (text) => paintState(paint, state, text)],
    ['filter', filterText(filter)],
    ['until', exactly(filter.until)],
    ['progress', percent(replay.progress)],
    ['sent again', replay.replayed.toLocaleString('en')],
    ['skipped', replay.skipped === 0 ? undefined : replay.skipped.toLocaleString('en')],
    ['rate', `at most ${replay.ratePerSecond} per second`],
    ['started', exactly(replay.createdAt)],
    ['ended', exactly(replay.endedAt)],
    ['cancel', state === 'running' ? `ringback replay cancel ${id}` : undefined],
  ]);
}

/** `dead, order.*, to sub_…, answered with 5xx, since …` */
export function filterText(filter: NewReplayFilter): string {
  const { state = 'dead', event, subscriberId, status, error, from } = filter;
  return [
    state,
    event === undefined ? '' : event,
    subscriberId === undefined ? '' : `to ${subscriberId}`,
    status === undefined ? '' : `status ${status}`,
    error === undefined ? '' : `error ${error}`,
    from === undefined ? '' : `since ${from}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function percent(progress: number): string {
  return `${Math.floor(progress * 100)} %`;
}
