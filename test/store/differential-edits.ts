// Translates commands into edits for both databases.
import { strict as assert } from 'node:assert';
import type { Controls } from '../../src/core/domain/controls.ts';
import { noControls } from '../../src/core/domain/controls.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { Audit } from '../../src/core/domain/audit.ts';
import type { EditCall } from '../../src/store/port/transport-protocol.ts';
import { editCall } from '../../src/store/port/transport-protocol.ts';
import type { EditInput, Idempotency } from '../../src/store/port/store.ts';
import type { Chosen } from './model-commands.ts';
import { callback, digest, inactive } from './subject.ts';
import { type Cast, pick } from './differential-operands.ts';
import type { EditCommand, KeyUse } from './differential-commands.ts';

type Choice = NonNullable<Extract<EditCommand, { kind: 'edit' }>['chosen']>;

/** Every edit that can be recorded is: its entry must be the same on both, or missing on both. */
export function toCall(cast: Cast, each: EditCommand): EditCall | undefined {
  const call = editOf(cast, each);
  const by = { kind: 'key', keyId: 'abcdefgh', address: '::1', requestId: 'req' } as const;
  const audit: Audit = {
    appNo: cast.apps[0],
    by,
    action: 'subscription.edited',
    object: each.kind,
  };
  if (call !== undefined) Object.assign(call.input, { audit });
  return call;
}

function editOf(cast: Cast, each: EditCommand): EditCall | undefined {
  const appNo = cast.apps[0];
  switch (each.kind) {
    case 'subscribe': {
      const { pattern, second } = each;
      const other = second === 'inactive' ? inactive(1, 'a') : callback(1, 'a');
      const subscription = cast.subscription([callback(0, pattern), other], controlsOf(each));
      const idempotency = keyOf(each.idempotency);
      return editCall('subscribe', { subscription, idempotency, subscriptionsMax: each.most });
    }
    case 'app': {
      const quotas = { [each.quota]: each.value };
      return editCall('editApp', { appNo, name: each.name, quotas });
    }
    case 'publish': {
      const { name, events } = each;
      const input = cast.published({ names: Array.from({ length: events }, () => name) });
      const app = cast.apps[each.app];
      return editCall('publish', { ...input, appNo: app, idempotency: keyOf(each.idempotency) });
    }
    case 'address': {
      const id = cast.idOf('subscription', each.who);
      const input = cast.published({ names: ['a'], audience: { kind: each.how, id } });
      return editCall('publish', { ...input, idempotency: keyOf(each.idempotency) });
    }
    case 'edit':
      return editSubscription(cast, each);
    case 'disable': {
      const lane = pick(cast.pair.table('lane'), each.which);
      return lane && editCall('disableFailing', { appNo, lane: Number(lane['no']) });
    }
    case 'notice': {
      const waiting = pick(cast.pair.table('notice'), 0);
      const name = String(waiting?.['name'] ?? 'ringback.delivery.dead');
      const no = each.how === 'there' ? Number(waiting?.['no'] ?? 1e6) : 1e6;
      return editCall('publish', {
        ...cast.published({ names: [name] }),
        contract: '',
        notice: no,
      });
    }
    case 'expire': {
      const id = cast.idOf('subscription', each.who);
      return editCall('expireSubscription', { appNo, id });
    }
    case 'forgetPatterns': {
      // Without a limit, because each database deletes equally old rows in its own order.
      const beforeMs = cast.pair.nowMs - each.agoMs;
      return editCall('forgetPatterns', { beforeMs, limit: 500 });
    }
    case 'unsubscribe':
      return editCall('unsubscribe', { appNo, id: cast.idOf('subscription', each.who) });
    case 'retry': {
      const delivery = cast.delivery(each.which, 'ended');
      return delivery && editCall('retryDelivery', { appNo, ...delivery });
    }
    case 'sweep':
      return editCall('sweep', { limit: each.limit });
    case 'heartbeat':
    case 'stopNode':
      return editCall(each.kind, { node: cast.node(each.which) });
    case 'rescue':
      return editCall('rescue', { silentMs: each.silentMs });
    case 'forget': {
      // Without a limit, because each database deletes equally old keys in its own order.
      const idempotencyBeforeMs = cast.pair.nowMs - each.agoMs;
      return editCall('forget', { idempotencyBeforeMs, limit: 500 });
    }
    case 'appendFeed':
    case 'watch':
    case 'forgetFeed':
      return editFeed(cast, each);
    case 'key':
      return editKey(cast, each);
    case 'session':
      return editSession(cast, each);
    case 'setting': {
      const value = digest(String(cast.pair.nowMs));
      return editCall('keepSetting', { name: `setting ${each.which}`, value });
    }
    case 'replay':
      return replayOf(cast, each);
    case 'cancelReplay':
      return editCall('cancelReplay', { appNo, id: cast.idOf('replay', each.which) });
    case 'forgetReplays': {
      const endedBeforeMs = cast.pair.nowMs - each.agoMs;
      return editCall('forgetReplays', { endedBeforeMs, limit: 500 });
    }
    case 'keepStatistics':
      return editCall('keepStatistics', { limit: limits.pendingStatisticsMax });
    case 'tidyStatistics': {
      const { fineMs: subscriptionFineMs, keepMs } = each;
      const keep = { appKeepMs: keepMs, subscriptionFineMs, subscriptionKeepMs: keepMs };
      return editCall('tidyStatistics', { ...keep, limit: 500 });
    }
    case 'poison':
      return poison(cast, each);
  }
}

function editSubscription(
  cast: Cast,
  each: Extract<EditCommand, { kind: 'edit' }>,
): EditCall | undefined {
  const { who, state, positions, isNewSecret, isStale, patterns, chosen } = each;
  const found = pick(cast.pair.table('subscription'), who);
  if (found === undefined) return undefined;
  const known = cast.pair.table('callback').filter((row) => row['subscription'] === found['no']);
  const urls = positions
    .filter((position) => known.some((row) => row['position'] === position))
    .map((position) => ({ position, url: `https://new.example/${cast.pair.nowMs}` }));
  return editCall('editSubscription', {
    appNo: Number(found['app']),
    id: String(found['id']),
    version: Number(found['version']) - (isStale ? 1 : 0),
    state,
    urls,
    secrets: isNewSecret ? digest(String(cast.pair.nowMs)) : undefined,
    events: patterns === undefined ? [] : [{ position: 0, events: [...new Set(patterns)] }],
    chosen: chosen && choose(cast, chosen),
  });
}

function choose(
  cast: Cast,
  { expiresInMs, ...chosen }: Choice,
): EditInput<'editSubscription'>['chosen'] {
  const expiresMs = expiresInMs === undefined ? undefined : cast.pair.nowMs + expiresInMs;
  const headers = chosen.filter === undefined ? undefined : digest('headers');
  return { controls: { ...controlsOf(chosen), expiresMs }, headers };
}

export function replayOf(cast: Cast, each: Extract<EditCommand, { kind: 'replay' }>): EditCall {
  const { state, name, who, status, error, rate, runningMax } = each;
  const subscription = who === undefined ? undefined : cast.idOf('subscription', who);
  const times = { fromMs: undefined, untilMs: undefined };
  const owner = { subject: undefined, customer: undefined };
  return editCall('createReplay', {
    replay: {
      id: cast.id(),
      appNo: cast.apps[each.app],
      filter: { state, event: name, ...owner, subscription, status, error, ...times },
      ratePerSecond: rate,
    },
    runningMax,
    idempotency: keyOf(each.idempotency),
  });
}

/** Few numbers, so that some already exist. */
function editFeed(
  cast: Cast,
  { kind, which, agoMs }: Extract<EditCommand, { agoMs: number; which: number }>,
): EditCall {
  const { nowMs } = cast.pair;
  const node = 1 + (which % 3);
  switch (kind) {
    case 'appendFeed': {
      const rows = cast.apps.map((appNo) => ({ appNo, seq: 1 + (which % 7), digest: '{}' }));
      return editCall('appendFeed', { node, rows });
    }
    case 'watch':
      return editCall('watch', { node, apps: cast.apps, untilMs: nowMs + agoMs });
    case 'forgetFeed':
      // Without a limit, because each database deletes equally old rows in its own order.
      return editCall('forgetFeed', { beforeMs: nowMs - agoMs, limit: 500 });
  }
}

function editKey(cast: Cast, { how, which }: Extract<EditCommand, { kind: 'key' }>): EditCall {
  const appNo = cast.apps[0];
  const id = cast.idOf('key', which);
  switch (how) {
    case 'create':
      return editCall('createKey', { appNo, key: cast.key() });
    case 'rotate': {
      const hash = digest(`rotated ${which}`);
      return editCall('rotateKey', { appNo, id, hash, oldUntilMs: cast.pair.nowMs + which });
    }
    case 'revoke':
      return editCall('revokeKey', { appNo, id });
    case 'touch':
      return editCall('touchKeys', { ids: [id, 'zzzzzzzz'] });
  }
}

const grant = { customer: 'cus', can: ['view'], theme: 'light', language: 'de' } as const;

function editSession(
  cast: Cast,
  { how, which }: Extract<EditCommand, { kind: 'session' }>,
): EditCall {
  const hash = digest(`session ${which % 4}`);
  const expiresMs = cast.pair.nowMs + 1 + which * 1_000;
  switch (how) {
    case 'create':
    case 'ticket': {
      const kind = how === 'create' ? 'session' : how;
      return editCall('createSession', {
        hash,
        kind,
        keyId: cast.idOf('key', which),
        keyHash: digest(`secret ${which % 3}`),
        expiresMs,
        ...(which % 2 === 0 && { portal: { ...grant, untilMs: expiresMs } }),
      });
    }
    case 'take':
      return editCall('takeTicket', { hash, opens: which % 3 === 0 ? 'portal' : 'console' });
    case 'prolong':
      return editCall('prolongSession', { hash, expiresMs });
    case 'end':
      return editCall('endSession', { hash });
    case 'forget':
      return editCall('forgetSessions', { beforeMs: cast.pair.nowMs, limit: 500 });
  }
}

function poison(
  cast: Cast,
  { how, which }: Extract<EditCommand, { kind: 'poison' }>,
): EditCall | undefined {
  const appNo = cast.apps[0];
  switch (how) {
    case 'publish': {
      const event = pick(cast.pair.table('event'), which);
      if (event === undefined) return undefined;
      const input = cast.published({ names: ['a', 'a'] });
      const [first] = input.events;
      assert(first !== undefined);
      return editCall('publish', {
        ...input,
        events: [first, { ...first, id: String(event['id']) }],
      });
    }
    case 'subscribe': {
      const subscription = cast.subscription([callback(0, 'a'), callback(0, 'a')]);
      return editCall('subscribe', { subscription, idempotency: undefined });
    }
    case 'edit': {
      const edit = editSubscription(cast, {
        kind: 'edit',
        who: which,
        state: 'paused',
        positions: [0],
        isNewSecret: true,
        isStale: false,
        patterns: ['c'],
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
      return editCall('createKey', { appNo, key: { ...cast.key(), scopes: [] } });
  }
}

function keyOf(use: KeyUse | undefined): Idempotency | undefined {
  return use && { key: digest(`key ${use.key}`), print: digest(`print ${use.print}`) };
}

function controlsOf(chosen: Chosen & Pick<Controls, 'filter'>): Controls {
  const { ordered, rate: ratePerSecond, concurrency, filter } = chosen;
  return { ...noControls, ordered, ratePerSecond, concurrency, filter };
}
