// The handler of nodes; it needs the operator scope.
import type { Context } from '../../engine/context.ts';
import type { Liveness } from '../../engine/cluster/liveness.ts';
import { listNodes } from '../../engine/cluster/nodes.ts';
import type { Handlers } from '../request/call.ts';
import * as fields from '../request/fields.ts';

export function nodeHandlers(context: Context, self: Pick<Liveness, 'no'>): Handlers {
  return {
    listNodes: async () => {
      const nodes = await listNodes(context);
      const items = nodes.map(({ no, name, role, version, startedMs, seenMs }) => ({
        name,
        role,
        version,
        startedAt: fields.time(startedMs),
        lastSeenAt: fields.time(seenMs),
        self: no === self.no(),
      }));
      return { status: 200, body: { items } };
    },
  };
}
