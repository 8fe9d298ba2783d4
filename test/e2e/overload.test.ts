// More publishes at a time than the service admits, by count; `npm run soak` floods it by rate for a minute.
import { describe, it } from 'node:test';
import { overload } from './overload.ts';

describe('a service that gets more requests at a time than it admits', () => {
  it('refuses the rest, keeps its promises, stays small and recovers', async (t) => {
    t.diagnostic(JSON.stringify(await overload({ requests: 20_000 })));
  });
});
