// Runs commands on both databases. It keeps no model: operands are looked up in the rows, which are the same on both.
import { strict as assert } from 'node:assert';
import { noControls } from '../../src/core/domain/controls.ts';
import { firstIdAt, timeOf } from '../../src/core/base/id.ts';
import { brokenAfter } from '../../src/core/domain/circuit-breaker.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { EditCall } from '../../src/store/port/transport-protocol.ts';
import { editCall } from '../../src/store/port/transport-protocol.ts';
import type { Settlement } from '../../src/store/port/delivery-verbs.ts';
import { attempt, callback, inactive } from './subject.ts';
import { Cast, contract, pick } from './differential-operands.ts';
import type { Command, SettlementCommand } from './differential-commands.ts';
import { replayOf, toCall } from './differential-edits.ts';
import { read } from './differential-reads.ts';
import type { Row } from './differential-tables.ts';
import { startMs } from './differential-tables.ts';
import type { StorePair } from './differential-stores.ts';

const freshSlots = 4;

export class Player {
  readonly #pair: StorePair;
  readonly #cast: Cast;

  constructor(pair: StorePair) {
    this.#pair = pair;
    this.#cast = new Cast(pair);
  }

  /** Two apps, a node, and a few subscriptions. */
  async begin(): Promise<void> {
    await this.#pair.reset();
    const apps = this.#cast.apps.map(() => {
      const id = this.#cast.id();
      return editCall('createApp', { id, name: id, key: this.#cast.key() });
    });
    const everything = this.#cast.subscription([callback(0, '*'), callback(1, 'a')]);
    const controls = { ...noControls, ordered: true };
    const ordered = this.#cast.subscription([callback(0, 'a.*'), inactive(1, 'a')], controls);
    const told = this.#cast.subscription([callback(0, 'ringback.*')]);
    const listeners = [everything, ordered, told].map((subscription) =>
      editCall('subscribe', { subscription, idempotency: undefined }),
    );
    await this.#pair.send([...apps, this.#cast.starting(), ...listeners]);
  }

  /** That many callbacks for every event; half of them have a filter for the second of two events. */
  async crowd(callbacks: number): Promise<void> {
    const each = limits.callbacksPerSubscriptionMax;
    const filtering = { ...noControls, filter: { '/of': [1] } };
    const subscriptions = Array.from({ length: Math.ceil(callbacks / each) }, (_, at) =>
      this.#cast.subscription(
        Array.from({ length: each }, (_one, position) => callback(position, '*')),
        at % 2 === 1 ? filtering : noControls,
      ),
    );
    await this.#pair.send(
      subscriptions.map((subscription) =>
        editCall('subscribe', { subscription, idempotency: undefined }),
      ),
    );
  }

  async run(command: Command): Promise<void> {
    switch (command.kind) {
      case 'edits':
        await this.#edit(command);
        break;
      case 'work':
        await this.#work(command);
        break;
      case 'beginFanOut':
        await this.#beginFanOut(command.name);
        break;
      case 'startNode':
        await this.#pair.send([this.#cast.starting()]);
        break;
      case 'retain':
        await this.#retain(command);
        break;
      case 'advance':
        await this.#advance(command);
        break;
      case 'wait':
        this.#pair.nowMs += command.ms;
        break;
      case 'read':
        await read(this.#cast, command);
        break;
    }
  }

  async #edit(command: Extract<Command, { kind: 'edits' }>): Promise<void> {
    const { edits, from, settle, room, node } = command;
    const calls: EditCall[] = [];
    const lanes: string[] = [];
    for (const each of edits) {
      const call = toCall(this.#cast, each);
      if (call === undefined) continue;
      calls.push(call);
      if (call.verb !== 'subscribe' || each.kind !== 'subscribe' || !each.isBreaking) continue;
      lanes.push(breaking(call.input.subscription.id));
    }
    if (calls.length === 0) return;
    if (calls.some(({ verb }) => verb === 'editSubscription')) await this.#pair.rest();
    // Statistics are kept from earlier transactions, never from outcomes in the same one.
    const isKeeping = calls.some(({ verb }) => verb === 'keepStatistics');
    // A poisoned settlement prevents leased inserts in its own transaction, but not in others.
    const isSpoilt = settle.some((each) => each.attempt === 'poisoned');
    await this.#pair.send(calls, {
      settlements: isKeeping ? [] : this.#settlements(from, settle),
      offer: isSpoilt ? undefined : this.#cast.offer({ room, laneRoom: freshSlots, node }),
      after: lanes.length === 0 ? undefined : lanes.join(';'),
    });
  }

  async #work(command: Extract<Command, { kind: 'work' }>): Promise<void> {
    const { from, settle, claim, isFanningOut, node } = command;
    await this.#pair.work({
      settlements: this.#settlements(from, settle),
      claim: claim && this.#cast.offer({ ...claim, node }),
      fanOut: isFanningOut ? this.#cast.offer({ room: 2, laneRoom: 1, node }) : undefined,
    });
  }

  #settlements(from: number, settle: readonly SettlementCommand[]): Settlement[] {
    const held = this.#cast
      .live()
      .filter((row) => row['lease'] !== null)
      .sort((a, b) => Number(a['lane']) - Number(b['lane']));
    const settled = new Set<Row>();
    let at = from;
    return settle.flatMap((each) => {
      at += each.step;
      const row = pick(held, at);
      const isMeant = row !== undefined && (each.step === 0 || !settled.has(row));
      if (!isMeant) return [];
      settled.add(row);
      return [this.#settlement(row, each)];
    });
  }

  #settlement(row: Row, each: SettlementCommand): Settlement {
    const { outcome: kind, waitMs, startedAgoMs } = each;
    const { nowMs } = this.#pair;
    const lease = Number(row['lease']) + (each.lease === 'stale' ? 2 ** 20 : 0);
    const name = { event: String(row['event']), n: Number(row['n']), lease };
    const startedMs = nowMs - startedAgoMs;
    const status = each.attempt === 'poisoned' ? 42 : 500;
    const made = attempt({ startedMs, status });
    switch (kind) {
      case 'delivered':
      case 'gone':
        return { ...name, outcome: { kind }, attempt: { ...made, error: undefined } };
      case 'cancelled':
        return { ...name, outcome: { kind }, attempt: undefined };
      case 'retry':
        return { ...name, outcome: { kind, waitMs }, attempt: made };
      case 'dead': {
        const isTried = waitMs % 2 === 0;
        const outcome = { kind, reason: 'exhausted' };
        return {
          ...name,
          outcome,
          attempt: isTried ? { ...made, response: undefined } : undefined,
        };
      }
      case 'released':
        return { ...name, outcome: { kind, waitMs }, attempt: undefined };
    }
  }

  /** Like a publish that needs a large fan-out. */
  async #beginFanOut(name: string): Promise<void> {
    const id = this.#cast.id();
    const appNo = this.#cast.apps[0];
    const names = JSON.stringify([name, '*']);
    await this.#pair.exec(`
      insert into event (id, app, name, slice, created_ms, payload)
      select '${id}', ${appNo}, '${name}', (select coalesce(max(slice), 1) from event), 1,
        coalesce((select payload from event order by id limit 1), secrets)
      from subscription order by no limit 1;
      insert into fanout (event, app, contract, version, names)
      select '${id}', no, '${contract}', version, '${names}' from app where no = ${appNo}`);
  }

  /** A limit below the number of rows, so that SQLite keeps the history, which PostgreSQL drops by the day. */
  async #retain({ which, limit }: Extract<Command, { kind: 'retain' }>): Promise<void> {
    const event = pick(this.#pair.table('event'), which);
    if (event === undefined) return;
    const beforeMs = timeOf(String(event['id'])) + 1;
    const below = firstIdAt(beforeMs);
    const late = this.#cast
      .live()
      .filter((row) => row['lease'] === null && String(row['event']) < below);
    const most = Math.min(limit, late.length);
    if (most > 0) await this.#pair.retain({ beforeMs, limit: most });
  }

  async #advance(command: Extract<Command, { kind: 'advance' }>): Promise<void> {
    const { which, limit, isStale, state } = command;
    const running = (): Row[] =>
      this.#pair.table('replay').filter((each) => each['state'] === 'running');
    if (running().length === 0) {
      const wide = { name: undefined, who: undefined, status: undefined, error: undefined };
      const rest = { app: 0, rate: 7, runningMax: 1, idempotency: undefined } as const;
      await this.#pair.send([replayOf(this.#cast, { kind: 'replay', state, ...wide, ...rest })]);
    }
    const row = pick(running(), which);
    if (row === undefined) return;
    const [id, appNo] = [String(row['id']), Number(row['app'])];
    const replay = await this.#pair.read('replay', { appNo, id });
    assert(replay !== undefined);
    const { filter, cursor, lastEvent, createdMs: endedByMs } = replay;
    const walk = { appNo, filter, endedByMs, after: cursor, lastEvent, limit };
    const { names, reached: to, isLast } = await this.#pair.read('replayable', walk);
    const from = { event: cursor.event, n: cursor.n + (isStale ? 1 : 0) };
    await this.#pair.send([editCall('advanceReplay', { id, from, to, names, isLast })]);
  }
}

/** One more failure opens the circuit breakers of its lanes, and they have failed for long enough to be disabled. */
function breaking(subscription: string): string {
  return `update lane set failures = ${brokenAfter - 1},
      failing_ms = ${startMs - limits.disableAfterMs}
    where subscription = (select no from subscription where id = '${subscription}')`;
}
