-- Its place has `delivery_waiting`. By itself: it needs a moment in which nobody is at the queue, and if it does not
-- get one, the new index must not be built again.
drop index delivery_live_find;
