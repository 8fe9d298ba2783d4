// Plays commands on two databases side by side. It keeps no books: whom a command means is read from the
// rows, which are the same on both.
import { strict as assert } from 'node:assert';
import type { Controls } from '../../src/core/controls.ts';
import { noControls } from '../../src/core/controls.ts';
import { pendingOf } from '../../src/core/figures.ts';
import { firstIdAt, timeOf } from '../../src/core/id.ts';
import { brokenAfter } from '../../src/core/lane.ts';
import { limits } from '../../src/core/limits.ts';
import { minuteMs, spanBetween } from '../../src/core/stats-span.ts';
import type { EditCall } from '../../src/store/call.ts';
import { editCall } from '../../src/store/call.ts';
import type { Offer, Settlement } from '../../src/store/delivery-verbs.ts';
import type { EditInput, Idempotency, NewSubscription } from '../../src/store/store.ts';
import { attempt, callback, digest, inactive } from './subject.ts';
import type { Chosen } from './model-commands.ts';
import type {
  Command,
  EditCommand,
  KeyUse,
  ReadCommand,
  SettlementCommand,
} from './twin-commands.ts';
import type { Row } from './twin-tables.ts';
import type { Twins } from './twins.ts';
import { startMs } from './twin-tables.ts';

const contract = 'Ringback';
const freshSlots = 4;

type Choice = NonNullable<Extract<EditCommand, { kind: 'edit' }>['chosen']>;

export class Player {
  readonly #twins: Twins;
  /** Their numbers, in a database that was empty. */
  readonly #apps = [1, 2] as const;
  #ids = 0;
  #leases = 0;

  constructor(twins: Twins) {
    this.#twins = twins;
  }

  /** Two apps, a node, and a few who listen. */
  async begin(): Promise<void> {
    await this.#twins.reset();
    const apps = this.#apps.map(() => {
      const id = this.#id();
      return editCall('createApp', { id, name: id, key: this.#key() });
    });
    const everything = this.#subscription([callback(0, '*'), callback(1, 'a')]);
    const controls = { ...noControls, ordered: true };
    const ordered = this.#subscription([callback(0, 'a.*'), inactive(1, 'a')], controls);
    const told = this.#subscription([callback(0, 'ringback.*')]);
    const listeners = [everything, ordered, told].map((subscription) =>
      editCall('subscribe', { subscription, idempotency: undefined }),
    );
    await this.#twins.send([...apps, this.#startNode(), ...listeners]);
  }

  /** So many callbacks that hear everything; half of them filter, and want the second of two events. */
  async crowd(callbacks: number): Promise<void> {
    const each = limits.callbacksPerSubscriptionMax;
    const filtering = { ...noControls, filter: { '/of': [1] } };
    const subscriptions = Array.from({ length: Math.ceil(callbacks / each) }, (_, at) =>
      this.#subscription(
        Array.from({ length: each }, (_one, position) => callback(position, '*')),
        at % 2 === 1 ? filtering : noControls,
      ),
    );
    await this.#twins.send(
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
        await this.#twins.send([this.#startNode()]);
        break;
      case 'retain':
        await this.#retain(command);
        break;
      case 'advance':
        await this.#advance(command);
        break;
      case 'wait':
        this.#twins.nowMs += command.ms;
        break;
      case 'read':
        await this.#read(command);
        break;
    }
  }

  async #edit({ edits, room, node }: Extract<Command, { kind: 'edits' }>): Promise<void> {
    const calls: EditCall[] = [];
    const lanes: string[] = [];
    for (const each of edits) {
      const call = this.#toCall(each);
      if (call === undefined) continue;
      calls.push(call);
      if (call.verb !== 'subscribe' || each.kind !== 'subscribe' || !each.isBreaking) continue;
      lanes.push(breaking(call.input.subscription.id));
    }
    if (calls.length === 0) return;
    if (calls.some(({ verb }) => verb === 'editSubscription')) await this.#twins.rest();
    await this.#twins.send(calls, {
      offer: this.#offer({ room, laneRoom: freshSlots, node }),
      after: lanes.length === 0 ? undefined : lanes.join(';'),
    });
  }

  #toCall(each: EditCommand): EditCall | undefined {
    const appNo = this.#apps[0];
    switch (each.kind) {
      case 'subscribe': {
        const { pattern, second } = each;
        const other = second === 'inactive' ? inactive(1, 'a') : callback(1, 'a');
        const subscription = this.#subscription([callback(0, pattern), other], controlsOf(each));
        const idempotency = keyOf(each.idempotency);
        return editCall('subscribe', { subscription, idempotency, subscriptionsMax: each.most });
      }
      case 'app': {
        const quotas = { [each.quota]: each.value };
        return editCall('editApp', { appNo, name: each.name, quotas });
      }
      case 'publish': {
        const { name, events } = each;
        const input = this.#publish({ names: Array.from({ length: events }, () => name) });
        const app = this.#apps[each.app];
        return editCall('publish', { ...input, appNo: app, idempotency: keyOf(each.idempotency) });
      }
      case 'address': {
        const id = this.#idOf('subscription', each.who);
        const input = this.#publish({ names: ['a'], audience: { kind: each.how, id } });
        return editCall('publish', { ...input, idempotency: keyOf(each.idempotency) });
      }
      case 'edit':
        return this.#editSubscription(each);
      case 'disable': {
        const lane = pick(this.#twins.table('lane'), each.which);
        return lane && editCall('disableFailing', { appNo, lane: Number(lane['no']) });
      }
      case 'notice': {
        const waiting = pick(this.#twins.table('notice'), 0);
        const name = String(waiting?.['name'] ?? 'ringback.delivery.dead');
        const no = each.how === 'there' ? Number(waiting?.['no'] ?? 1e6) : 1e6;
        return editCall('publish', {
          ...this.#publish({ names: [name] }),
          contract: '',
          notice: no,
        });
      }
      case 'expire': {
        const id = this.#idOf('subscription', each.who);
        return editCall('expireSubscription', { appNo, id });
      }
      case 'forgetPatterns': {
        // Without a limit: of those that died at one time, each forgets others first.
        const beforeMs = this.#twins.nowMs - each.agoMs;
        return editCall('forgetPatterns', { beforeMs, limit: 500 });
      }
      case 'unsubscribe':
        return editCall('unsubscribe', { appNo, id: this.#idOf('subscription', each.who) });
      case 'retry': {
        const delivery = this.#delivery(each.which, 'ended');
        return delivery && editCall('retryDelivery', { appNo, ...delivery });
      }
      case 'sweep':
        return editCall('sweep', { limit: each.limit });
      case 'heartbeat':
      case 'stopNode':
        return editCall(each.kind, { node: this.#node(each.which) });
      case 'rescue':
        return editCall('rescue', { silentMs: each.silentMs });
      case 'forget': {
        // Without a limit: of keys that were kept at one time, each forgets others first.
        const idempotencyBeforeMs = this.#twins.nowMs - each.agoMs;
        return editCall('forget', { idempotencyBeforeMs, limit: 500 });
      }
      case 'appendFeed':
      case 'watch':
      case 'forgetFeed':
        return this.#editFeed(each);
      case 'key':
        return this.#editKey(each);
      case 'session':
        return this.#editSession(each);
      case 'setting': {
        const value = digest(String(this.#twins.nowMs));
        return editCall('keepSetting', { name: `setting ${each.which}`, value });
      }
      case 'replay':
        return this.#replay(each);
      case 'cancelReplay':
        return editCall('cancelReplay', { appNo, id: this.#idOf('replay', each.which) });
      case 'forgetReplays': {
        const endedBeforeMs = this.#twins.nowMs - each.agoMs;
        return editCall('forgetReplays', { endedBeforeMs, limit: 500 });
      }
      case 'keepFigures':
        return editCall('keepFigures', { limit: limits.figuresGatheredMax });
      case 'tidyFigures': {
        const { fineMs: subscriptionFineMs, keepMs } = each;
        const keep = { appKeepMs: keepMs, subscriptionFineMs, subscriptionKeepMs: keepMs };
        return editCall('tidyFigures', { ...keep, limit: 500 });
      }
      case 'poison':
        return this.#poison(each);
    }
  }

  #replay(each: Extract<EditCommand, { kind: 'replay' }>): EditCall {
    const { state, name, who, status, error, rate, runningMax } = each;
    const subscription = who === undefined ? undefined : this.#idOf('subscription', who);
    const times = { fromMs: undefined, untilMs: undefined };
    return editCall('createReplay', {
      replay: {
        id: this.#id(),
        appNo: this.#apps[each.app],
        filter: { state, event: name, subscription, status, error, ...times },
        ratePerSecond: rate,
      },
      runningMax,
      idempotency: keyOf(each.idempotency),
    });
  }

  async #advance(command: Extract<Command, { kind: 'advance' }>): Promise<void> {
    const { which, limit, isStale, state } = command;
    const running = (): Row[] =>
      this.#twins.table('replay').filter((each) => each['state'] === 'running');
    if (running().length === 0) {
      const wide = { name: undefined, who: undefined, status: undefined, error: undefined };
      const rest = { app: 0, rate: 7, runningMax: 1, idempotency: undefined } as const;
      await this.#twins.send([this.#replay({ kind: 'replay', state, ...wide, ...rest })]);
    }
    const row = pick(running(), which);
    if (row === undefined) return;
    const [id, appNo] = [String(row['id']), Number(row['app'])];
    const replay = await this.#twins.read('replay', { appNo, id });
    assert(replay !== undefined);
    const { filter, cursor, lastEvent, createdMs: endedByMs } = replay;
    const walk = { appNo, filter, endedByMs, after: cursor, lastEvent, limit };
    const { names, reached: to, isLast } = await this.#twins.read('replayable', walk);
    const from = { event: cursor.event, n: cursor.n + (isStale ? 1 : 0) };
    await this.#twins.send([editCall('advanceReplay', { id, from, to, names, isLast })]);
  }

  #choose({ expiresInMs, ...chosen }: Choice): EditInput<'editSubscription'>['chosen'] {
    const expiresMs = expiresInMs === undefined ? undefined : this.#twins.nowMs + expiresInMs;
    const headers = chosen.filter === undefined ? undefined : digest('headers');
    return { controls: { ...controlsOf(chosen), expiresMs }, headers };
  }

  #editSubscription(each: Extract<EditCommand, { kind: 'edit' }>): EditCall | undefined {
    const { who, state, positions, isNewSecret, isStale, heard, chosen } = each;
    const found = pick(this.#twins.table('subscription'), who);
    if (found === undefined) return undefined;
    const known = this.#twins
      .table('callback')
      .filter((row) => row['subscription'] === found['no']);
    const urls = positions
      .filter((position) => known.some((row) => row['position'] === position))
      .map((position) => ({ position, url: `https://new.example/${this.#twins.nowMs}` }));
    return editCall('editSubscription', {
      appNo: Number(found['app']),
      id: String(found['id']),
      version: Number(found['version']) - (isStale ? 1 : 0),
      state,
      urls,
      secrets: isNewSecret ? digest(String(this.#twins.nowMs)) : undefined,
      events: heard === undefined ? [] : [{ position: 0, events: [...new Set(heard)] }],
      chosen: chosen && this.#choose(chosen),
    });
  }

  /** Fewer than there are: then SQLite leaves the history alone, which PostgreSQL drops by the day. */
  async #retain({ which, limit }: Extract<Command, { kind: 'retain' }>): Promise<void> {
    const event = pick(this.#twins.table('event'), which);
    if (event === undefined) return;
    const beforeMs = timeOf(String(event['id'])) + 1;
    const below = firstIdAt(beforeMs);
    const late = this.#live().filter(
      (row) => row['lease'] === null && String(row['event']) < below,
    );
    const most = Math.min(limit, late.length);
    if (most > 0) await this.#twins.retain({ beforeMs, limit: most });
  }

  /** Few numbers, so that some are there already. */
  #editFeed({
    kind,
    which,
    agoMs,
  }: Extract<EditCommand, { agoMs: number; which: number }>): EditCall {
    const { nowMs } = this.#twins;
    const node = 1 + (which % 3);
    switch (kind) {
      case 'appendFeed': {
        const rows = this.#apps.map((appNo) => ({ appNo, seq: 1 + (which % 7), digest: '{}' }));
        return editCall('appendFeed', { node, rows });
      }
      case 'watch':
        return editCall('watch', { node, apps: this.#apps, untilMs: nowMs + agoMs });
      case 'forgetFeed':
        // Without a limit: of rows of one time, each forgets others first.
        return editCall('forgetFeed', { beforeMs: nowMs - agoMs, limit: 500 });
    }
  }

  #editKey({ how, which }: Extract<EditCommand, { kind: 'key' }>): EditCall {
    const appNo = this.#apps[0];
    const id = this.#idOf('key', which);
    switch (how) {
      case 'create':
        return editCall('createKey', { appNo, key: this.#key() });
      case 'rotate': {
        const hash = digest(`rotated ${which}`);
        return editCall('rotateKey', { appNo, id, hash, oldUntilMs: this.#twins.nowMs + which });
      }
      case 'revoke':
        return editCall('revokeKey', { appNo, id });
      case 'touch':
        return editCall('touchKeys', { ids: [id, 'zzzzzzzz'] });
    }
  }

  #editSession({ how, which }: Extract<EditCommand, { kind: 'session' }>): EditCall {
    const hash = digest(`session ${which % 4}`);
    const expiresMs = this.#twins.nowMs + 1 + which * 1_000;
    switch (how) {
      case 'create':
      case 'ticket': {
        const kind = how === 'create' ? 'session' : how;
        return editCall('createSession', {
          hash,
          kind,
          keyId: this.#idOf('key', which),
          keyHash: digest(`secret ${which % 3}`),
          expiresMs,
        });
      }
      case 'take':
        return editCall('takeTicket', { hash });
      case 'prolong':
        return editCall('prolongSession', { hash, expiresMs });
      case 'end':
        return editCall('endSession', { hash });
      case 'forget':
        return editCall('forgetSessions', { beforeMs: this.#twins.nowMs, limit: 500 });
    }
  }

  #poison({ how, which }: Extract<EditCommand, { kind: 'poison' }>): EditCall | undefined {
    const appNo = this.#apps[0];
    switch (how) {
      case 'publish': {
        const event = pick(this.#twins.table('event'), which);
        if (event === undefined) return undefined;
        const input = this.#publish({ names: ['a', 'a'] });
        const [first] = input.events;
        assert(first !== undefined);
        return editCall('publish', {
          ...input,
          events: [first, { ...first, id: String(event['id']) }],
        });
      }
      case 'subscribe': {
        const subscription = this.#subscription([callback(0, 'a'), callback(0, 'a')]);
        return editCall('subscribe', { subscription, idempotency: undefined });
      }
      case 'edit': {
        const edit = this.#editSubscription({
          kind: 'edit',
          who: which,
          state: 'paused',
          positions: [0],
          isNewSecret: true,
          isStale: false,
          heard: ['c'],
          chosen: {
            ordered: true,
            rate: 4,
            concurrency: 1,
            filter: undefined,
            expiresInMs: undefined,
          },
        });
        if (edit?.verb !== 'editSubscription') return undefined;
        const urls = [...edit.input.urls, { position: 9, url: 'https://nobody.example/' }];
        return editCall('editSubscription', { ...edit.input, urls });
      }
      case 'key':
        return editCall('createKey', { appNo, key: { ...this.#key(), scopes: [] } });
    }
  }

  async #work(command: Extract<Command, { kind: 'work' }>): Promise<void> {
    const { from, settle, claim, isFanningOut, node } = command;
    const held = this.#live()
      .filter((row) => row['lease'] !== null)
      .sort((a, b) => Number(a['lane']) - Number(b['lane']));
    const settled = new Set<Row>();
    let at = from;
    const settlements = settle.flatMap((each) => {
      at += each.step;
      const row = pick(held, at);
      const isMeant = row !== undefined && (each.step === 0 || !settled.has(row));
      if (!isMeant) return [];
      settled.add(row);
      return [this.#settlement(row, each)];
    });
    await this.#twins.work({
      settlements,
      claim: claim && this.#offer({ ...claim, node }),
      fanOut: isFanningOut ? this.#offer({ room: 2, laneRoom: 1, node }) : undefined,
    });
  }

  #settlement(row: Row, each: SettlementCommand): Settlement {
    const { outcome: kind, waitMs, startedAgoMs } = each;
    const { nowMs } = this.#twins;
    const dueMs = nowMs + waitMs;
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
        return { ...name, outcome: { kind, dueMs }, attempt: made };
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
        return { ...name, outcome: { kind, dueMs }, attempt: undefined };
    }
  }

  /** As a publish with more listeners than can be served at once. */
  async #beginFanOut(name: string): Promise<void> {
    const id = this.#id();
    const appNo = this.#apps[0];
    const names = JSON.stringify([name, '*']);
    await this.#twins.exec(`
      insert into event (id, app, name, slice, created_ms, payload)
      select '${id}', ${appNo}, '${name}', (select coalesce(max(slice), 1) from event), 1,
        coalesce((select payload from event order by id limit 1), secrets)
      from subscription order by no limit 1;
      insert into fanout (event, app, contract, version, names)
      select '${id}', no, '${contract}', version, '${names}' from app where no = ${appNo}`);
  }

  async #read(command: ReadCommand): Promise<void> {
    const { what, which, limit, subscriptionState } = command;
    const appNo = this.#apps[which % 8 === 0 ? 1 : 0];
    const twins = this.#twins;
    switch (what) {
      case 'subscriptions':
        await this.#pages(limit, async (page) =>
          twins.readApart('subscriptions', bothOf(page, { appNo, state: subscriptionState })),
        );
        break;
      case 'events':
        await this.#pages(limit, async (page) =>
          twins.readApart('events', bothOf(page, { appNo, name: command.name })),
        );
        break;
      case 'deliveries': {
        const filter = this.#filter(command);
        await this.#pages(limit, async (page) =>
          twins.readApart('deliveries', bothOf(page, { appNo, filter })),
        );
        break;
      }
      case 'delivery': {
        const delivery = this.#delivery(which);
        if (delivery === undefined) break;
        const event = await twins.read('event', { appNo, id: delivery.event });
        assert(event !== undefined || which % 8 === 0);
        await twins.read('delivery', { appNo, ...delivery });
        await twins.read('attempts', { appNo, ...delivery });
        break;
      }
      case 'targets': {
        const callbacks = twins.table('callback').map((row) => Number(row['no']));
        const there = callbacks.map((no) => twins.toThere('callback', no));
        await twins.readApart('targets', { here: { callbacks }, there: { callbacks: there } });
        break;
      }
      case 'figures': {
        const span = spanBetween(twins.nowMs - which * 60 * minuteMs, twins.nowMs + 1);
        const { counts } = await twins.read('appFigures', { appNo, span });
        const pending = this.#live().filter((row) => row['app'] === appNo);
        assert.equal(pendingOf(counts), pending.length);
        const ids = [which, which + 1].map((index) => this.#idOf('subscription', index));
        await twins.read('subscriptionFigures', { appNo, ids, span, pendingMax: limit });
        break;
      }
      case 'feed': {
        await twins.read('feed', { appNo, after: undefined, limit });
        await twins.read('feed', { appNo, after: new Map([[1, which % 7]]), limit });
        const names = twins.table('delivery_done').map(nameOf);
        await twins.read('deliveriesNamed', { appNo, names: names.slice(0, which) });
        break;
      }
      case 'others': {
        const id = this.#idOf('subscription', which);
        await twins.read('subscription', { appNo, id });
        await twins.read('subscriptionHealth', { appNo, id });
        await twins.read('tally', {});
        await twins.read('nodes', {});
        await twins.read('key', { id: this.#idOf('key', which) });
        await twins.read('session', { hash: digest(`session ${which % 4}`) });
        await twins.read('adminKey', { appNo, nowMs: twins.nowMs });
        await this.#pages(limit, async (page) => twins.readApart('keys', bothOf(page, { appNo })));
        await this.#pages(limit, async (page) => twins.readApart('apps', bothOf(page, {})));
        break;
      }
    }
  }

  #filter({ state, name, isOfEvent, isOfSubscription, which }: ReadCommand) {
    return {
      state,
      name,
      event: isOfEvent ? this.#delivery(which)?.event : undefined,
      subscription: isOfSubscription ? this.#idOf('subscription', which) : undefined,
    };
  }

  /** A whole list, page by page, each database with its own cursors. */
  async #pages(limit: number, read: (cursors: Cursors) => Promise<Both>): Promise<void> {
    let page: Cursors = { limit, here: undefined, there: undefined };
    for (let count = 0; count < 50; count += 1) {
      const { here, there } = await read(page);
      if (here.next === undefined) return;
      page = { limit, here: here.next, there: there.next };
    }
    assert.fail('A list does not end');
  }

  #offer({ room, laneRoom, node }: { room: number; laneRoom: number; node: number }): Offer {
    const no = this.#node(node);
    this.#leases += 1;
    const free = new Map<number, number>();
    const underWay = new Map<number, number>();
    for (const { lane, lease } of this.#live()) {
      if (lease === null || Math.floor(Number(lease) / 2 ** 32) !== no) continue;
      free.set(Number(lane), (free.get(Number(lane)) ?? laneRoom) - 1);
      underWay.set(Number(lane), (underWay.get(Number(lane)) ?? 0) + 1);
    }
    return { lease: no * 2 ** 32 + this.#leases, room, free, underWay, laneRoom };
  }

  #publish({ names, audience = { kind: 'everyone' } }: Published): EditInput<'publish'> {
    return {
      appNo: this.#apps[0],
      contract,
      events: names.map((name, of) => {
        const payload = Buffer.from(JSON.stringify({ name, of, list: [of < 1] }));
        return { id: this.#id(), name, payload };
      }),
      audience,
      ...(names.length === 2 ? { trace: 'a trace' } : {}),
      idempotency: undefined,
    };
  }

  #subscription(
    callbacks: NewSubscription['callbacks'],
    controls: Controls = noControls,
  ): NewSubscription {
    const appNo = this.#apps[0];
    const made = { id: this.#id(), appNo, contract, operation: 'subscribe', callbacks, controls };
    return { ...made, secrets: digest('secrets') };
  }

  #startNode(): EditCall {
    return editCall('startNode', { name: 'here', role: 'all', version: '1', aloneHere: false });
  }

  #key() {
    const id = this.#id().slice(-8);
    return { id, hash: digest(id), name: 'a key', scopes: ['read'], expiresMs: undefined } as const;
  }

  #live(): Row[] {
    return this.#twins.table('delivery_live');
  }

  /** Any, or more often one that has ended. */
  #delivery(index: number, rather?: 'ended'): { event: string; n: number } | undefined {
    const ended = this.#twins.table('delivery_done');
    const isEnded = rather === 'ended' && index % 4 > 0 && ended.length > 0;
    const row = pick(isEnded ? ended : [...this.#live(), ...ended], index);
    return row && nameOf(row);
  }

  #node(index: number): number {
    return Number(pick(this.#twins.table('node'), index)?.['no'] ?? 1);
  }

  #idOf(table: 'subscription' | 'replay' | 'key', index: number): string {
    return String(pick(this.#twins.table(table), index)?.['id'] ?? this.#id());
  }

  /** All of one day, and the same in every run. */
  #id(): string {
    this.#ids += 1;
    return firstIdAt(startMs + this.#ids).slice(0, 18) + String(this.#ids).padStart(8, '0');
  }
}

interface Published {
  names: readonly string[];
  audience?: EditInput<'publish'>['audience'];
}

interface Cursors {
  limit: number;
  here: string | undefined;
  there: string | undefined;
}

interface Both {
  here: { next: string | undefined };
  there: { next: string | undefined };
}

function bothOf<T extends object>({ limit, here, there }: Cursors, input: T) {
  return {
    here: { ...input, page: { limit, after: here } },
    there: { ...input, page: { limit, after: there } },
  };
}

function keyOf(use: KeyUse | undefined): Idempotency | undefined {
  return use && { key: digest(`key ${use.key}`), print: digest(`print ${use.print}`) };
}

function nameOf(row: Row): { event: string; n: number } {
  return { event: String(row['event']), n: Number(row['n']) };
}

/** One failure more, and its lanes are broken; and they have failed for so long that it is disabled. */
function breaking(subscription: string): string {
  return `update lane set failures = ${brokenAfter - 1},
      failing_ms = ${startMs - limits.disableAfterMs}
    where subscription = (select no from subscription where id = '${subscription}')`;
}

function controlsOf(chosen: Chosen & Pick<Controls, 'filter'>): Controls {
  const { ordered, rate: ratePerSecond, concurrency, filter } = chosen;
  return { ...noControls, ordered, ratePerSecond, concurrency, filter };
}

function pick<T>(from: readonly T[], index: number): T | undefined {
  return from[index % Math.max(from.length, 1)];
}
