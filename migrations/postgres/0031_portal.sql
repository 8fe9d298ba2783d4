-- What the holder of a link to a customer's portal may do, as JSON: on the link, and on the session that it opens.
alter table session add column portal text;
