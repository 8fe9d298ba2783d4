// Networks for tests: they answer when and how the test says, and record what was sent.
import type { FakeSend } from './harness.ts';

export const ok = {
  kind: 'answered',
  status: 200,
  headers: [],
  body: new Uint8Array(),
  cut: false,
} as const;

export interface SlowNetwork {
  /** The URLs of requests that have started. */
  starts: string[];
  /** Requests that have no connection yet. */
  connecting: () => number;
  /** Gives a connection to all that wait for one. */
  open: () => void;
  send: FakeSend;
}

/** A network in which a connection takes until the test opens it, or until it is aborted. */
export function slowNetwork(answer: (url: string) => ReturnType<FakeSend>): SlowNetwork {
  const starts: string[] = [];
  const waiting = new Set<() => void>();
  const send: FakeSend = async ({ url }, { signal, onStart } = {}) => {
    const isOpen = await new Promise<boolean>((resolve) => {
      const go = (): void => resolve(true);
      waiting.add(go);
      signal?.addEventListener('abort', () => {
        waiting.delete(go);
        resolve(false);
      });
    });
    if (!isOpen) return { kind: 'aborted', started: false };
    if (onStart?.() === false) return { kind: 'not_started', reason: 'declined' };
    starts.push(url);
    return answer(url);
  };
  const open = (): void => {
    for (const go of waiting) {
      waiting.delete(go);
      go();
    }
  };
  return { starts, connecting: () => waiting.size, open, send };
}

/** A network without delay. */
export function quickNetwork(answer: (url: string) => ReturnType<FakeSend>): {
  starts: string[];
  send: FakeSend;
} {
  const starts: string[] = [];
  const send: FakeSend = async ({ url }, { onStart } = {}) => {
    if (onStart?.() === false) return { kind: 'not_started', reason: 'declined' };
    starts.push(url);
    return answer(url);
  };
  return { starts, send };
}
