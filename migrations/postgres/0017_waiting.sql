-- Searches find what waits here, and what runs by `delivery_running`, which is little. So a delivery that is born
-- with a lease, as most are, has no entry to be written: a quarter of what its insert took. Only who asks in these very
-- words is led here: with `lease is null` a plan made on an empty queue would look for a lane in all of it.
create index delivery_waiting on delivery_live (slice, app, lane, event) where nullif(lease, 0) is null;
