// More concurrent publishes than the service admits, by count; `npm run soak` floods it at a rate for a minute.
import { describe, it } from 'node:test';
import { overload } from './overload.ts';

describe('a service with more concurrent requests than it admits', () => {
  it('refuses the rest, delivers accepted events, bounds its memory and recovers', async (t) => {
    t.diagnostic(JSON.stringify(await overload({ requests: 20_000 })));
  });
});
