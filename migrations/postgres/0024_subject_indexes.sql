-- Lists by subject.
create index subscription_subject on subscription (app, subject, no) where subject is not null;
create index event_subject on event (app, subject, id) where subject is not null;
-- Unconfirmed subscriptions, which are few: those that end next, and those that a publish names by their subject.
create index subscription_unconfirmed on subscription (confirm_by_ms)
  where confirm_by_ms is not null and state <> 'ended';
create index subscription_unconfirmed_subject on subscription (app, subject)
  where subject is not null and confirm_by_ms is not null and state <> 'ended';
