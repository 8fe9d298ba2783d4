// Negative controls of the simulation: each breaks the product on purpose, and some seed must detect it. `find` must
// occur exactly once in its file, so that an outdated control fails.
import type { SourceChange } from '../controls/change-source.ts';
import { lookInProcess, type LookControl } from '../controls/run-controls.ts';

interface Break extends SourceChange {
  name: string;
  /** The invariants that it breaks; a violation of one of them must be detected. */
  breaks: readonly string[];
}

const breaks: readonly Break[] = [
  {
    name: 'ack-before-commit',
    file: 'src/engine/publish/publish.ts',
    find: '    const result = await publishConfirming(context, input);',
    replace:
      "    if (input.audience.kind === 'everyone') {\n" +
      "      void context.store.edit('publish', input).catch(() => undefined);\n" +
      '      const accepted = input.events.map(({ id }) => ({ id, deliveries: undefined }));\n' +
      '      return { accepted, rate };\n' +
      '    }\n' +
      '    const result = await publishConfirming(context, input);',
    breaks: ['I1', 'I13'],
  },
  {
    name: 'ack-then-send',
    file: 'src/engine/deliver/attempt.ts',
    find: '  const outcome: Outcome = isMoved ?',
    replace: "  const outcome: Outcome = true ? { kind: 'delivered' } : isMoved ?",
    breaks: ['I3'],
  },
  {
    name: 'no-fencing',
    file: 'src/store/sqlite/deliver/settle.ts',
    find: 'where event = ? and n = ? and lease = ?`',
    replace: 'where event = ? and n = ? and ifnull(lease, 0) >= 0 * ?`',
    breaks: ['I5', 'I9', 'I14', 'I7'],
  },
  {
    name: 'rescue-the-living',
    file: 'src/store/sqlite/deliver/nodes.ts',
    find: "  silent: 'update node set gone = 1 where gone = 0 and seen_ms < ? returning no',",
    replace:
      "  silent: 'update node set gone = 1 where gone = 0 and seen_ms < ? + 1e15 returning no',",
    breaks: ['I5', 'I9'],
  },
  {
    name: 'free-what-is-held',
    file: 'src/store/sqlite/deliver/nodes.ts',
    find:
      '  free: `\n    update delivery_live set lease = null\n    where lease is not null and ' +
      '(lease >> 32) not in (select no from node where gone = 0)`,',
    replace: '  free: `\n    update delivery_live set lease = null where lease is not null`,',
    breaks: ['I5', 'I9', 'I14'],
  },
  {
    name: 'no-rescue',
    file: 'src/engine/cluster/liveness.ts',
    find: '      if (rescues && this.#isSteady()) {',
    replace: '      if (rescues && this.#isSteady() && onRescued === onError) {',
    breaks: ['I18', 'liveness', 'I1'],
  },
  {
    name: 'ignore-unsubscribe',
    file: 'src/engine/deliver/attempt.ts',
    find: "  if (state !== 'open') return state;",
    replace: "  if (state === 'held') return state;",
    breaks: ['I8'],
  },
  {
    name: 'no-confirmation',
    file: 'src/engine/deliver/start-delivering.ts',
    find: 'store.isShared ? createConfirmer({ world, ...invalidation }) : noConfirmer;',
    replace: 'store.isShared ? noConfirmer : noConfirmer;',
    breaks: ['I8'],
  },
  {
    name: 'trust-what-was-read-before-a-suspension',
    file: 'src/core/base/world.ts',
    find: '    if (gainedMs > noiseMs) suspendedMs += gainedMs;',
    replace: '    if (gainedMs === Infinity) suspendedMs += gainedMs;',
    breaks: ['I8', 'I5'],
  },
  {
    name: 'wait-for-a-clock-that-was-set-back',
    file: 'src/store/sqlite/upkeep/rebase-times.ts',
    find: '      if (backMs < limits.clockBackMs) return;',
    replace: '      if (backMs < Infinity) return;',
    breaks: ['liveness', 'I18', 'I1', 'I7'],
  },
  {
    name: 'no-back-off',
    file: 'src/core/domain/retry.ts',
    find: '  const jittered = waitMs * (1 - jitter + 2 * jitter * chance);',
    replace: '  const jittered = 0 * waitMs * (1 - jitter + 2 * jitter * chance);',
    breaks: ['I7'],
  },
  {
    name: 'too-much-back-off',
    file: 'src/core/domain/retry.ts',
    find: '  const jittered = waitMs * (1 - jitter + 2 * jitter * chance);',
    replace: '  const jittered = 4 * waitMs * (1 - jitter + 2 * jitter * chance);',
    breaks: ['I7'],
  },
  {
    name: 'ignore-retry-after',
    file: 'src/core/domain/retry.ts',
    find: '  return Math.round(Math.max(jittered, Math.min(askedMs, askedMaxMs)));',
    replace: '  return Math.round(Math.max(jittered, 0 * Math.min(askedMs, askedMaxMs)));',
    breaks: ['I7'],
  },
  {
    name: 'burn-attempts-of-our-own',
    file: 'src/store/sqlite/deliver/settle.ts',
    find: '    const count = attempt === undefined ? 0 : 1;',
    replace: '    const count = 1;',
    breaks: ['I14', 'I7'],
  },
  {
    name: 're-serialise-payload',
    file: 'src/engine/publish/publish.ts',
    find: 'return { id: context.newId(), name, subject, customer, payload, skipped };',
    replace:
      'const value: unknown = JSON.parse(Buffer.from(payload).toString());' +
      ' return { id: context.newId(), name, subject, payload: Buffer.from(JSON.stringify(value)) };',
    breaks: ['I2'],
  },
  {
    name: 'forget-the-key',
    file: 'src/engine/publish/publish.ts',
    find: '    idempotency: call.idempotency && idempotencyOf(call.idempotency, app),',
    replace: '    idempotency: undefined,',
    breaks: ['I13'],
  },
  {
    name: 'ordered-without-order',
    file: 'src/core/domain/lane.ts',
    find: '  if (lane.ordered && took > 0) return { ...after, gateMs: never, readyMs: never };',
    replace: '  if (lane.ordered && took < 0) return { ...after, gateMs: never, readyMs: never };',
    breaks: ['I9'],
  },
  {
    name: 'retry-what-was-delivered',
    file: 'src/engine/deliver/attempt.ts',
    find: '  const isMoved = classified.kind ===',
    replace: "  const isMoved = classified.kind === 'delivered' || classified.kind ===",
    breaks: ['I5'],
  },
  {
    name: 'lane-cap-off',
    file: 'src/store/rules/offer-slots.ts',
    find: '    return Math.min(slots, concurrency - running);',
    replace: '    return Math.min(slots, Infinity * concurrency - running);',
    breaks: ['concurrency'],
  },
  {
    name: 'fan-out-kept-in-memory',
    file: 'src/store/sqlite/deliver/nodes.ts',
    find: "    const node = integer(one(insert.get({ name, role, version, nowMs })), 'no');",
    replace:
      "    const node = integer(one(insert.get({ name, role, version, nowMs })), 'no');\n" +
      "    db.exec('delete from fanout');",
    breaks: ['I1'],
  },
  {
    // Restarts the fan-out after a crash, which a higher node number reveals.
    name: 'fan-out-from-its-beginning',
    file: 'src/store/sqlite/deliver/claim-and-fan-out.ts',
    find: '    const fanningOut = toFanningOut(row);',
    replace:
      '    const fanningOut = toFanningOut(row);\n' +
      '    const node = Math.floor(context.insertLeases.slots.lease / 2 ** 32);\n' +
      '    const known = (next as { at?: Map<string, number> }).at ??= new Map();\n' +
      '    if (node > (known.get(fanningOut.event) ?? node)) {\n' +
      "      db.prepare('update fanout set step = 0, callback = 0 where event = ?').run(fanningOut.event);\n" +
      '      fanningOut.cursor = { step: 0, callback: 0 };\n' +
      '    }\n' +
      '    known.set(fanningOut.event, Math.max(node, known.get(fanningOut.event) ?? 0));',
    breaks: ['I1'],
  },
  {
    name: 'fan-out-without-its-rest',
    file: 'src/store/sqlite/deliver/claim-and-fan-out.ts',
    find: '    if (after === undefined) {',
    replace: '    if (after === undefined || made > 1) {',
    breaks: ['I1'],
  },
  {
    name: 'replay-kept-in-memory',
    file: 'src/store/verbs/replays/replays.ts',
    find: "    select ${columns} from replay where state = 'running' order by next_ms, no limit ?1 + 0`,",
    replace:
      "    select ${columns} from replay where state = 'running'\n" +
      '      and created_ms >= (select max(started_ms) from node)\n' +
      '    order by next_ms, no limit ?1 + 0`,',
    breaks: ['I1', 'liveness'],
  },
  {
    name: 'replay-without-its-rest',
    file: 'src/store/verbs/replays/replays.ts',
    find: "    isLast ? 'done' : 'running',",
    replace: "    isLast || replayed > 0 ? 'done' : 'running',",
    breaks: ['I1'],
  },
  {
    name: 'replay-of-others',
    file: 'src/core/domain/delivery.ts',
    find: "    (found.state === state || (state === 'ended' && isEnded(found.state))) &&",
    replace: "    (found.state === state || (state !== 'pending' && isEnded(found.state))) &&",
    breaks: ['I4'],
  },
  {
    name: 'replay-without-a-fence',
    file: 'src/store/verbs/replays/replays.ts',
    find: "  if (state !== 'running' || cursor.event !== from.event || cursor.n !== from.n) return undefined;",
    replace: "  if (state !== 'running' || cursor.event < '') return undefined;",
    breaks: ['I4'],
  },
  {
    name: 'ignore-the-filter',
    file: 'src/store/rules/listeners.ts',
    find: '  return listeners.filter(({ rules }) => rules === undefined || matches(rules));',
    replace:
      '  return listeners.filter(({ rules }) => rules === undefined || matches(rules) || true);',
    breaks: ['I1'],
  },
  {
    name: 'ignore-the-rate',
    file: 'src/core/domain/rate-limit.ts',
    find: '  return Math.floor((unusedMs + slackMs) / intervalMs);',
    replace: '  return Math.ceil((unusedMs + 50) / intervalMs) + 1;',
    breaks: ['rate'],
  },
  {
    name: 'confirm-what-was-refused',
    file: 'src/engine/subscribe/exchange.ts',
    find: `  const refusal = refusalBy(roleOf(call), status);
  if (refusal !== undefined) return refuse(context, { call, id, status, reason: refusal });`,
    replace: '',
    breaks: ['I19'],
  },
  {
    name: 'end-what-got-no-answer',
    file: 'src/engine/subscribe/exchange.ts',
    find: '  const confirmByMs = store.nowMs() + limits.confirmWithinMs;',
    replace: '  const confirmByMs = store.nowMs() + 1_000;',
    breaks: ['I19'],
  },
  {
    name: 'publish-past-the-unconfirmed',
    file: 'src/store/sqlite/publish/publish.ts',
    find: "      if (row['confirm_by_ms'] !== null) return { kind: 'unconfirmed', ids: [audience.id] };",
    replace: '',
    breaks: ['I19'],
  },
  {
    name: 'register-repeated-exchanges',
    file: 'src/engine/subscribe/exchange.ts',
    find: '    idempotency: idempotency && idempotencyOf(idempotency, call.app),',
    replace: '    idempotency: (void idempotencyOf, idempotency && undefined),',
    breaks: ['I19'],
  },
  {
    name: 'never-end-the-unconfirmed',
    file: 'src/store/verbs/subscriptions/end-subscription.ts',
    find: "  return nowMs >= confirmByMs ? 'unconfirmed' : undefined;",
    replace: "  return nowMs >= confirmByMs && nowMs < 0 ? 'unconfirmed' : undefined;",
    breaks: ['I19'],
  },
];

const seedsMax = 300;

/** Runs seeds in a separate process until one detects the fault. */
export const simulationControls: readonly LookControl[] = breaks.map(
  ({ name, breaks: invariants, ...change }) => ({
    name,
    changes: [change],
    breaks: new RegExp(`^(?:${invariants.join('|')}): `),
    look: lookInProcess(new URL('hunt.ts', import.meta.url), [invariants.join(), `${seedsMax}`]),
  }),
);
