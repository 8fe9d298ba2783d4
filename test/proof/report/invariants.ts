// The invariants that the proof checks. Its parts, its controls and docs/proof.md refer to them by number.

export const invariants: Readonly<Record<string, string>> = {
  I1: 'no loss: every acknowledged event is delivered to every matching subscription, or ends dead or cancelled',
  I2: 'nothing arrives that was not published, and every body is byte for byte the published one',
  I3: 'a delivery marked as delivered was accepted by its receiver',
  I4: 'an ended delivery stays ended, unless it is sent again on purpose',
  I5: 'a duplicate has a cause: a lost response, or a node that died or was declared dead',
  I6: 'all attempts have the same id and body, a current timestamp, and a valid signature',
  I7: 'retries come neither sooner nor later than their schedule says',
  I8: 'once an unsubscribe, a pause or a change of the URL was answered, nothing starts under the old state',
  I9: 'an ordered subscription gets one delivery after the other, in order',
  I10: 'a slow or dead receiver does not slow down the others',
  I11: 'memory, connections, slots, time and log volume are bounded',
  I12: 'during a fault, publishes are refused and never acknowledged in vain; afterwards the service recovers by itself',
  I13: 'one idempotency key makes one event, whatever fails',
  I14: 'the counts of deliveries agree at every moment, and none ends dead without a reason',
  I15: 'no connection goes to a forbidden address',
  I16: 'no secret appears in a response, a log, a trace or the database',
  I17: 'a caller sees and does only what its key allows, and nothing of another app',
  I18: 'deliveries leased to a dead node are attempted again within two leases',
  I19: 'a subscription whose request an API accepted is called when the API publishes to it, whatever crashed; one that it refused never is; none stays unconfirmed',
};
