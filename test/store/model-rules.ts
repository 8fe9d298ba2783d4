// Invariants as queries that must find nothing, whatever the sequence of commands.
import { never } from '../../src/core/domain/lane.ts';

/** Must never find a row. */
export const broken = {
  'an app whose subscriptions are miscounted': `
    select no from app where subscriptions <>
      (select count(*) from subscription where app = app.no and state <> 'ended')`,
  'a lane with something waiting that nobody will look at': `
    select no from lane where state = 0 and ready_ms = ${never}
      and exists (select 1 from delivery_live where lane = no and lease is null)
      and not (ordered = 1
        and exists (select 1 from delivery_live where lane = no and lease is not null))`,
  'something waiting in an ended lane that nobody will sweep': `
    select no from lane where state = 2 and swept = 1
      and exists (select 1 from delivery_live where lane = no and lease is null)`,
  'a lane that is looked at before its gate': `
    select no from lane where state = 0 and ready_ms < gate_ms`,
  'a callback in a lane of another kind, or of somebody else': `
    select callback.no from callback
      join lane on lane.no = callback.lane
      join subscription on subscription.no = callback.subscription
    where lane.ordered <> subscription.ordered or lane.subscription <> subscription.no`,
  'an ordered or limited subscription with several lanes in use': `
    select callback.subscription from callback join lane on lane.no = callback.lane
    where lane.ordered = 1 or lane.interval_ms is not null
    group by callback.subscription having count(distinct lane.no) > 1`,
  'callbacks that share a lane although they need not': `
    select lane from callback join lane on lane.no = callback.lane
    where lane.ordered = 0 and lane.interval_ms is null group by lane having count(*) > 1`,
  'a pattern in another lane than its callback': `
    select callback from pattern join callback on callback.no = pattern.callback
    where pattern.lane <> callback.lane`,
  'a lane under another limit than its subscription': `
    select lane.no from lane join subscription on subscription.no = lane.subscription
    where lane.concurrency is not json_extract(settings, '$.concurrency')
      or lane.interval_ms is not 1000 / json_extract(settings, '$.ratePerSecond')`,
  'more lanes than callbacks, and an ordered one': `
    select no from subscription where state <> 'ended'
      and (select count(*) from lane where subscription = subscription.no)
        > 1 + (select count(*) from callback where subscription = subscription.no)`,
  'two running deliveries in an ordered lane': `
    select lane from delivery_live join lane on no = lane
    where ordered = 1 and lease is not null group by lane having count(*) > 1`,
  'an ordered delivery that runs before an earlier one': `
    select event from delivery_live as later join lane on no = later.lane
    where ordered = 1 and lease is not null and exists (select 1 from delivery_live as earlier
      where earlier.lane = later.lane and earlier.due_ms < later.due_ms)`,
  'a delivery that is live and done': `
    select event from delivery_live join delivery_done using (event, n)`,
  'a delivery without its event, callback or lane': `
    select event from (select event, callback, lane from delivery_live
      union all select event, callback, lane from delivery_done) as delivery
    where not exists (select 1 from event where id = delivery.event)
      or not exists (select 1 from callback join subscription on subscription.no = subscription
        where callback.no = delivery.callback)
      or not exists (select 1 from lane where no = delivery.lane)`,
  'an attempt or a response without its delivery': `
    select event from (select event, n from attempt union all select event, n from response) as part
    where not exists (select 1 from delivery_live where event = part.event and n = part.n)
      and not exists (select 1 from delivery_done where event = part.event and n = part.n)`,
} as const;

/** Must never find a row, except for an event that is half deleted. */
export const miscounted = {
  'attempts that are not counted, or counted twice': `
    select event from (select event, n, attempts from delivery_live
      union all select event, n, attempts from delivery_done) as delivery
    where attempts <> (select count(*) from attempt
      where attempt.event = delivery.event and attempt.n = delivery.n)`,
  'an event that counts other deliveries than it has': `
    select id as event from event where deliveries is not null and deliveries <>
      (select count(*) from delivery_live where event = id)
      + (select count(*) from delivery_done where event = id)`,
} as const;
