-- Lists by customer.
create index subscription_customer on subscription (app, customer, no) where customer is not null;
create index event_customer on event (app, customer, id) where customer is not null;
