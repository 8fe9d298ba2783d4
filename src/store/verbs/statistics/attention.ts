// What an operator should look at, most serious first: disabled subscriptions, and failing
// receivers. A few of each, found by indexes that contain nothing else.
import { limits } from '../../../core/limits/limits.ts';
import type { Attention } from '../../port/statistics-verbs.ts';
import type { Row } from '../../sql/row.ts';
import { integer, maybe, text } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all, forEach } from '../../sql/statement.ts';

// A lane that no callback uses any more may have failed last; nothing would ever clear it.
export const attentionSql = {
  disabled: `
    select subscription.id,
      (select url from callback where callback.subscription = subscription.no and inactive is null
       order by position limit 1) as url,
      (select max(failures) from lane where lane.subscription = subscription.no) as failures,
      (select min(failing_ms) from lane where lane.subscription = subscription.no) as since_ms
    from subscription where app = ?1 and state = 'disabled' order by no desc limit ?2 + 0`,
  failing: `
    select subscription.id, failing.no as lane, failing.failures, failing.failing_ms as since_ms,
      (select url from callback where callback.lane = failing.no order by position limit 1) as url
    from (
      select no, subscription, failures, failing_ms from lane
      where app = ?1 and failures > 0 and state = 0
        and (select position from callback where callback.lane = lane.no limit 1) is not null
      order by failures desc, no desc limit ?2 + 0) as failing
    join subscription on subscription.no = failing.subscription
    order by failures desc, lane desc`,
  // A delivery that was tried waits for its retry, so it is due later than the rest.
  lastTried: `
    select cast(?1 as bigint) as lane, attempt.code, attempt.error from (
      select event, n, attempts from delivery_live where lane = ?1 and lease is null
      order by due_ms desc, event desc, n desc limit 16) as waiting
    join attempt on attempt.event = waiting.event and attempt.n = waiting.n
      and attempt.k = waiting.attempts
    order by attempt.started_ms desc, attempt.event desc, attempt.n desc limit 1`,
} as const;

export function* attention(appNo: number): Script<Attention[]> {
  const most = limits.attentionMax;
  const disabled = (yield* all(attentionSql.disabled, appNo, most)).map((row): Attention => ({
    ...toAttention(row, 'disabled'),
    url: maybe(text, row, 'url') ?? '',
    failures: maybe(integer, row, 'failures') ?? 0,
  }));
  const failing = yield* findFailing(appNo, most);
  return [...disabled, ...failing].slice(0, most);
}

function* findFailing(appNo: number, most: number): Script<Attention[]> {
  const rows = yield* all(attentionSql.failing, appNo, most);
  const lanes = rows.map((row) => [integer(row, 'lane')]);
  const tried = yield* forEach(attentionSql.lastTried, lanes);
  const last = new Map(tried.map((row) => [integer(row, 'lane'), row]));
  return rows.map((row): Attention => {
    const attempt = last.get(integer(row, 'lane'));
    return {
      ...toAttention(row, 'failing'),
      url: maybe(text, row, 'url') ?? '',
      failures: integer(row, 'failures'),
      status: attempt && maybe(integer, attempt, 'code'),
      error: attempt && maybe(text, attempt, 'error'),
    };
  });
}

function toAttention(row: Row, kind: Attention['kind']): Attention {
  return {
    kind,
    subscription: text(row, 'id'),
    url: '',
    sinceMs: maybe(integer, row, 'since_ms'),
    failures: 0,
    status: undefined,
    error: undefined,
  };
}
