-- What goes through whole tables for the columns of 0011 and 0014: in a transaction of its own, so that
-- events are published and delivered meanwhile.

-- Whoever changes a subscription has its app locked first, so nobody is in the middle of it from here on.
lock table app in exclusive mode;
update app set subscriptions = alive.count
from (select app, count(*) from subscription where state <> 'ended' group by app) alive
where alive.app = app.no;

create index subscription_expiry on subscription (expires_ms)
  where expires_ms is not null and state <> 'ended';

create index pattern_died on pattern (died_ms) where died_ms is not null;

-- Whoever looks for listeners is told by the index alone. The old one goes last: that is a moment in which
-- nobody can look.
alter index pattern_alive rename to pattern_alive_before;
create index pattern_alive on pattern (app, contract, pattern, callback, lane, died, filtered)
  where died is null;
drop index pattern_alive_before;
