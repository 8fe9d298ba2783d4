/** Of a delivery of the queue: in the words of the index `delivery_waiting`, which no others lead to. */
export const waits = 'nullif(lease, 0) is null';
