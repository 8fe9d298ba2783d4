// A customer joins: the shop subscribes to his orders. A customer leaves: the shop only notes it, and
// answers the next callback with 410, which ends the subscription.
import { createClient } from 'ringback/client';
import { openDatabase } from './database.ts';
import { databaseFile, requireKey, ringbackUrl, shopUrl } from './settings.ts';

const [step, name = ''] = process.argv.slice(2);
if ((step !== 'join' && step !== 'leave') || !/^[a-z][a-z0-9-]*$/.test(name)) {
  console.error('Usage: node customer.ts join|leave NAME   (a name is a-z, 0-9 and -)');
  process.exit(2);
}

using database = openDatabase(databaseFile);
if (step === 'join') {
  const ringback = createClient({ url: ringbackUrl, key: requireKey() });
  const { subscriberId, secret } = await ringback.subscribe({
    callbackUrl: `${shopUrl}/hooks/${name}`,
    'x-ringback': { events: ['order.*'], filter: { '/customer': [name] } },
  });
  database.join({ name, subscriberId, secret });
  console.log(`${name} has joined: ${subscriberId}`);
} else if (database.leave(name)) {
  console.log(`${name} has left`);
} else {
  console.error(`Cannot let "${name}" leave: there is no such customer`);
  process.exitCode = 1;
}
