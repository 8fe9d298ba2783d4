-- Its place has `delivery_waiting`.
drop index delivery_live_find;
