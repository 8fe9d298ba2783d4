// Looks up the operands of a command in the rows of both databases, and generates new ids deterministically.
import type { Controls } from '../../src/core/domain/controls.ts';
import { noControls } from '../../src/core/domain/controls.ts';
import { firstIdAt } from '../../src/core/base/id.ts';
import type { EditCall } from '../../src/store/port/transport-protocol.ts';
import { editCall } from '../../src/store/port/transport-protocol.ts';
import type { Offer } from '../../src/store/port/delivery-verbs.ts';
import type { EditInput, NewKey, NewSubscription } from '../../src/store/port/store.ts';
import { digest } from './subject.ts';
import type { Row } from './differential-tables.ts';
import type { StorePair } from './differential-stores.ts';
import { startMs } from './differential-tables.ts';

export const contract = 'Ringback';

export class Cast {
  readonly pair: StorePair;
  /** App numbers in a database that was empty. */
  readonly apps = [1, 2] as const;
  #ids = 0;
  #leases = 0;

  constructor(pair: StorePair) {
    this.pair = pair;
  }

  live(): Row[] {
    return this.pair.table('delivery_live');
  }

  /** Any delivery, or mostly an ended one. */
  delivery(index: number, rather?: 'ended'): { event: string; n: number } | undefined {
    const ended = this.pair.table('delivery_done');
    const isEnded = rather === 'ended' && index % 4 > 0 && ended.length > 0;
    const row = pick(isEnded ? ended : [...this.live(), ...ended], index);
    return row && nameOf(row);
  }

  node(index: number): number {
    return Number(pick(this.pair.table('node'), index)?.['no'] ?? 1);
  }

  idOf(table: 'subscription' | 'replay' | 'key', index: number): string {
    return String(pick(this.pair.table(table), index)?.['id'] ?? this.id());
  }

  /** Ids of one day, the same in every run. */
  id(): string {
    this.#ids += 1;
    return firstIdAt(startMs + this.#ids).slice(0, 18) + String(this.#ids).padStart(8, '0');
  }

  key(): NewKey {
    const id = this.id().slice(-8);
    return { id, hash: digest(id), name: 'a key', scopes: ['read'], expiresMs: undefined };
  }

  subscription(
    callbacks: NewSubscription['callbacks'],
    controls: Controls = noControls,
  ): NewSubscription {
    const appNo = this.apps[0];
    const made = { id: this.id(), appNo, contract, operation: 'subscribe', callbacks, controls };
    return { ...made, secrets: digest('secrets') };
  }

  published({ names, audience = { kind: 'everyone' } }: Published): EditInput<'publish'> {
    return {
      appNo: this.apps[0],
      contract,
      events: names.map((name, of) => {
        const payload = Buffer.from(JSON.stringify({ name, of, list: [of < 1] }));
        return { id: this.id(), name, payload };
      }),
      audience,
      ...(names.length === 2 ? { trace: 'a trace' } : {}),
      idempotency: undefined,
    };
  }

  starting(): EditCall {
    return editCall('startNode', { name: 'here', role: 'all', version: '1', aloneHere: false });
  }

  offer({ room, laneRoom, node }: { room: number; laneRoom: number; node: number }): Offer {
    const no = this.node(node);
    this.#leases += 1;
    const free = new Map<number, number>();
    const inFlight = new Map<number, number>();
    for (const { lane, lease } of this.live()) {
      if (lease === null || Math.floor(Number(lease) / 2 ** 32) !== no) continue;
      free.set(Number(lane), (free.get(Number(lane)) ?? laneRoom) - 1);
      inFlight.set(Number(lane), (inFlight.get(Number(lane)) ?? 0) + 1);
    }
    return { lease: no * 2 ** 32 + this.#leases, room, free, inFlight, laneRoom };
  }
}

interface Published {
  names: readonly string[];
  audience?: EditInput<'publish'>['audience'];
}

export function nameOf(row: Row): { event: string; n: number } {
  return { event: String(row['event']), n: Number(row['n']) };
}

export function pick<T>(from: readonly T[], index: number): T | undefined {
  return from[index % Math.max(from.length, 1)];
}
