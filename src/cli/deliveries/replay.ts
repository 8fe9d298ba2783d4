// `ringback replay`: sends many deliveries again. It counts what matches, asks for confirmation,
// then shows progress. The service runs the replay, so leaving does not end it.
import type { Client, NewReplayFilter, Replay } from '../../client/client.ts';
import { guess } from '../../core/errors/did-you-mean.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Invocation } from '../declare/command.ts';
import { refuseBeside } from '../declare/flags.ts';
import { pollUntil } from '../service/poll.ts';
import { deliveryFlags, endedStates, listFlags } from '../service/filter-flags.ts';
import { expectId } from '../service/id-kind.ts';
import { json, paintState, showList, stateColumn, type View, viewOf } from '../service/view.ts';
import { withService } from '../service/with-service.ts';
import { calledWrongly, CliFailure } from '../terminal/failure.ts';
import { startProgress } from '../terminal/progress.ts';
import type { Column } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { logPainter } from '../terminal/text.ts';
import { readFilters } from './deliveries.ts';

export async function replay(call: Invocation, terminal: Terminal): Promise<void> {
  const [word = 'create', id, ...more] = call.positionals;
  const verb = verbs.find((known) => known === word);
  if (verb === undefined) {
    throw calledWrongly(`Cannot replay "${word}": ${guess(word, ['list', 'show', 'cancel'])}`);
  }
  const wantsId = verb === 'show' || verb === 'cancel';
  if (more.length > 0 || (id !== undefined && !wantsId)) {
    throw calledWrongly(
      `Cannot replay "${[id, ...more].join(' ')}": the command takes options only`,
    );
  }
  if (wantsId && id === undefined)
    throw calledWrongly(`Cannot ${verb} a replay: no id given, expected rpl_…`);
  if (id !== undefined) expectId('rpl', id, verb);
  refuseStrangers(call, verb);
  const filter = readReplayFilter(call, terminal.world.nowMs());
  await withService(call, async ({ client }) => {
    const deps = { call, terminal, client };
    switch (verb) {
      case 'create':
        return create(deps, filter);
      case 'list':
        return showList(call, terminal, {
          list: (limit) => client.replays.list({ limit }),
          columns: replayColumns(viewOf(terminal)),
          none: 'No replays yet. Resend dead-lettered deliveries: ringback replay --since 1h',
        });
      case 'show':
        return show(deps, await client.replays.get(id ?? ''));
      case 'cancel':
        return show(deps, await client.replays.cancel(id ?? ''));
    }
  });
}

const verbs = ['create', 'list', 'show', 'cancel'] as const;

function refuseStrangers(call: Invocation, verb: (typeof verbs)[number]): void {
  const ofLists = Object.keys(listFlags);
  const ofNew = [...Object.keys(deliveryFlags), 'state', 'rate', 'dry-run', 'yes', 'no-wait'];
  if (verb === 'create') refuseBeside(call, 'a new replay', ofLists);
  else refuseBeside(call, `"${verb}"`, verb === 'list' ? ofNew : [...ofNew, ...ofLists]);
}

interface Deps {
  call: Invocation;
  terminal: Terminal;
  client: Client;
}

function show({ call, terminal }: Deps, one: Replay): void {
  terminal.out(call.isJson ? json(one) : showReplay(viewOf(terminal), one));
}

function readReplayFilter(call: Invocation, nowMs: number): NewReplayFilter {
  const { state: _state, eventId: _eventId, ...filters } = readFilters(call, nowMs);
  const state = endedStates.find((one) => one === call.text('state')) ?? 'dead';
  const given = Object.entries({ state, ...filters }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

async function create({ call, terminal, client }: Deps, filter: NewReplayFilter): Promise<void> {
  const rate = call.count('rate') ?? rateDefault;
  const found = await client.replays.count({ filter });
  const { matched, isCapped } = found;
  const many = `${isCapped ? 'At least ' : ''}${matched.toLocaleString('en')}`;
  const fitting = matched === 1 ? 'delivery' : 'deliveries';
  if (call.isOn('dry-run') && call.isJson) return terminal.out(json(found));
  if (matched === 0 && !isCapped) {
    if (call.isJson) return terminal.out(json(null));
    return terminal.err(`No delivery matches (${filterText(filter)}): nothing to send again.\n`);
  }
  const takes = isCapped ? '' : `, in about ${Math.ceil(matched / rate)} s`;
  const summary =
    `${many} ${fitting} would be sent again (${filterText(filter)}), at most ${rate} per ` +
    `second${takes}.\n`;
  if (call.isOn('dry-run')) return terminal.out(summary);
  if (!call.isOn('yes')) {
    const isWanted = await askYes(terminal, { about: summary, question: 'Send them again?' });
    if (!isWanted) throw new CliFailure('Nothing was sent again.');
  }
  const begun = await client.replays.create({ filter, ratePerSecond: rate });
  const ended = call.isOn('no-wait')
    ? begun
    : await follow({ call, terminal, client }, begun, matched).catch((error: unknown) => {
        if (call.isJson) terminal.out(json(begun));
        throw error;
      });
  if (call.isJson) return terminal.out(json(ended));
  terminal.out(showReplay(viewOf(terminal), ended));
}

const rateDefault = 50;

async function follow(
  { terminal, client }: Deps,
  begun: Replay,
  expected: number,
): Promise<Replay> {
  using progress = startProgress('Sending again', terminal);
  const { id } = begun;
  return await pollUntil(terminal, {
    ask: async (signal) => {
      const now = await client.replays.get(id, { retries: limits.longRetries, signal });
      if (now.state !== 'running') return now;
      progress.show({ done: now.matched, total: Math.max(expected, now.matched), note: id });
      return undefined;
    },
    left: () =>
      new CliFailure(
        `Stopped watching; ${id} continues.\n` +
          `  ringback replay show ${id}      shows its progress\n` +
          `  ringback replay cancel ${id}    cancels it`,
        { exitCode: 130 },
      ),
  });
}

// Shows replays to people: a line each, or one with all its figures.

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

export function showReplay(view: View, one: Replay): string {
  const { paint, exactly } = view;
  const { id, state, filter } = one;
  return view.facts([
    ['replay', id],
    ['state', state, (text) => paintState(paint, state, text)],
    ['filter', filterText(filter)],
    ['until', exactly(filter.until)],
    ['progress', percent(one.progress)],
    ['sent again', one.replayed.toLocaleString('en')],
    ['skipped', one.skipped === 0 ? undefined : one.skipped.toLocaleString('en')],
    ['rate', `at most ${one.ratePerSecond} per second`],
    ['started', exactly(one.createdAt)],
    ['ended', exactly(one.endedAt)],
    ['cancel', state === 'running' ? `ringback replay cancel ${id}` : undefined],
  ]);
}

/** `dead, order.*, to sub_…, answered with 5xx, since …` */
export function filterText(filter: NewReplayFilter): string {
  const { state = 'dead', event, subject, customer, subscriberId, status, error, from } = filter;
  return [
    state,
    event === undefined ? '' : event,
    subject === undefined ? '' : `about ${subject}`,
    customer === undefined ? '' : `of customer ${customer}`,
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

// Asks a yes/no question that only a person at a terminal can answer; everyone else must pass
// --yes.

export interface Question {
  /** Context in lines, printed before the question and in the error. */
  about: string;
  question: string;
}

export async function askYes(terminal: Terminal, { about, question }: Question): Promise<boolean> {
  if (!terminal.input.isTerminal || !terminal.log.isTerminal) {
    throw calledWrongly(
      `${about}Cannot ask for confirmation: standard input is not a terminal. Pass --yes to ` +
        'skip the question',
    );
  }
  terminal.err(`${about}${logPainter(terminal)('bold', question)} [y/N] `);
  return /^\s*y(es)?\s*$/i.test(await firstLine(terminal));
}

async function firstLine({ input }: Terminal): Promise<string> {
  let line = '';
  for await (const chunk of input.bytes()) {
    line += Buffer.from(chunk).toString();
    if (line.includes('\n') || line.length > lineCharsMax) break;
  }
  return line;
}

const lineCharsMax = 1_000;
