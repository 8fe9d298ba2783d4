-- Searches find what waits here, and what runs by `delivery_running`, which is little. So a delivery that is born
-- with a lease, as most are, has no entry to be written. Only who asks in these very words is led here. That `lease`
-- stands in it, too, spares a look at the table.
create index delivery_waiting on delivery_live (slice, app, lane, event, n, lease)
  where nullif(lease, 0) is null;
