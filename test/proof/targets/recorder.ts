// Writes down where callbacks would go, and lets none of them leave: what is dialled is refused, or is
// answered by somebody on loopback who passes for the one that was meant.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Connector } from '../../../src/egress/http/connect.ts';

export interface Dial {
  address: string;
  port: number;
}

export interface Recorder extends Connector {
  readonly dials: number;
  /** What was wrong, each as a sentence. */
  violations: readonly string[];
}

export interface RecorderOptions {
  /** Why nobody may dial this; undefined: it is fine. Knows nothing of the product's own judgement. */
  fault: (dial: Dial) => string | undefined;
  /** A port on loopback that answers instead, and the address it shows; by default nobody does. */
  answers?: (dial: Dial) => { port: number; shows?: string | undefined } | undefined;
}

export function recorder({ fault, answers = () => undefined }: RecorderOptions): Recorder {
  const violations: string[] = [];
  let dials = 0;
  return {
    violations,
    get dials() {
      return dials;
    },
    connect: async ({ address, port, signal }) => {
      dials += 1;
      const wrong = fault({ address, port });
      if (wrong !== undefined) violations.push(`I15: dialled ${address} port ${port}: ${wrong}`);
      const answering = wrong === undefined ? answers({ address, port }) : undefined;
      if (answering === undefined) {
        throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      }
      const socket = connect({ host: '127.0.0.1', port: answering.port });
      // Before the handshake is over: what the product gets must not be seen without it.
      if ('shows' in answering) show(socket, answering.shows);
      await once(socket, 'connect', { signal });
      return socket;
    },
  };
}

function show(socket: Socket, remoteAddress: string | undefined): void {
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
}
