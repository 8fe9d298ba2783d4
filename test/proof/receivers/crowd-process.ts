// Starts the crowd of hostile receivers, and speaks with it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Certificates } from '../../egress/tls-behaviours.ts';
import type { ReceiverKind } from './cases.ts';
import type { Order, ReceiverPorts, Seen } from './crowd.ts';

export interface Crowd extends AsyncDisposable {
  places: ReceiverPorts;
  behave: (as: number | 'well') => Promise<void>;
  report: () => Promise<Seen>;
  look: () => Promise<Seen>;
}

export async function startCrowd(
  ports: Readonly<Record<ReceiverKind, number>>,
  certificates: Certificates,
): Promise<Crowd> {
  const child = fork(join(import.meta.dirname, 'crowd.ts'), { serialization: 'advanced' });
  const ended = once(child, 'exit');
  const ask = async (order: Order): Promise<unknown> => {
    child.send(order);
    const answered = once(child, 'message').then(([answer]: unknown[]) => answer);
    return Promise.race([answered, ended.then(([code]: unknown[]) => gone(code))]);
  };
  return {
    places: (await ask({ kind: 'open', ports, certificates })) as ReceiverPorts,
    behave: async (as) => void (await ask({ kind: 'behave', as })),
    report: async () => (await ask({ kind: 'report' })) as Seen,
    look: async () => (await ask({ kind: 'look' })) as Seen,
    [Symbol.asyncDispose]: async () => {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

function gone(code: unknown): never {
  throw new Error(`The receivers ended with ${String(code)}`);
}
