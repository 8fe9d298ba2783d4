// A connector that records where callbacks would go and lets none leave the machine: it refuses the connection, or
// connects to a receiver on loopback that poses as the requested address.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Connector } from '../../../src/egress/http/connect.ts';

export interface Dial {
  address: string;
  port: number;
}

export interface Recorder extends Connector {
  readonly dials: number;
  /** Violations so far. */
  violations: readonly string[];
}

export interface RecorderOptions {
  /** Why the address is forbidden; undefined if it is allowed. Must not depend on the product's own rules. */
  fault: (dial: Dial) => string | undefined;
  /** A port on loopback to connect to instead, and the remote address to show; refused by default. */
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
      // Set before the socket is connected, so that the product never sees the real address.
      if ('shows' in answering) show(socket, answering.shows);
      await once(socket, 'connect', { signal });
      return socket;
    },
  };
}

function show(socket: Socket, remoteAddress: string | undefined): void {
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
}
