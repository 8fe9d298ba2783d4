// The live view: one EventSource on /stream for the whole page, as signals and listeners. It never queues:
// a page that was not looking is shown to read its lists again.
import { computed, effect, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { limits } from './limits.ts';
import { readSession, session } from './session.ts';
import type { Frame } from './frame.ts';

export type Connection = 'off' | 'connecting' | 'live' | 'reconnecting';

export const connection = signal<Connection>('off');

/** The reader's own switch; lists stand still meanwhile. */
export const isPaused = signal(false);

/** The newest frame, whoever wants only its figures. */
export const newestFrame = signal<Frame | undefined>(undefined);

const isSeen = signal(true);

/** While somebody with the scope is signed in, looks at the page and has not paused it. */
const isWanted = computed(() => {
  const mayRead = session.value?.scopes.includes('read') ?? false;
  return mayRead && isSeen.value && !isPaused.value;
});

type Listener = (frame: Frame) => void;

const listeners = new Set<Listener>();
let source: EventSource | undefined;
let retryMs: number = limits.streamRetryMinMs;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
let hasMissed = false;

/** Calls back for each frame while the component is there, but not while the reader pauses. */
export function useFrames(listener: Listener): void {
  const newest = useRef(listener);
  newest.current = listener;
  useEffect(() => {
    const listen: Listener = (frame) => newest.current(frame);
    listeners.add(listen);
    return () => {
      listeners.delete(listen);
    };
  }, []);
}

/** For what must not wait for a stream that does not get through: asks every few seconds instead. */
export function usePolling(read: () => void): void {
  const newest = useRef(read);
  newest.current = read;
  useEffect(() => {
    const timer = setInterval(() => {
      const isNeeded = connection.peek() !== 'live' && !isPaused.peek() && !document.hidden;
      if (isNeeded) newest.current();
    }, limits.pollMs);
    return () => clearInterval(timer);
  }, []);
}

export function startStream(): void {
  isSeen.value = !document.hidden;
  // A browser keeps six connections to a host over HTTP/1.1: hidden tabs must not hold them.
  document.addEventListener('visibilitychange', () => {
    isSeen.value = !document.hidden;
  });
  effect(() => {
    if (isWanted.value) open();
    else close();
  });
}

function open(): void {
  if (source !== undefined) return;
  clearTimeout(retryTimer);
  connection.value = connection.peek() === 'off' ? 'connecting' : 'reconnecting';
  source = new EventSource('/stream');
  source.addEventListener('changes', onFrame);
  source.addEventListener('error', onError);
}

function close(): void {
  clearTimeout(retryTimer);
  if (source !== undefined) hasMissed = true;
  source?.close();
  source = undefined;
  connection.value = 'off';
}

function onFrame(event: MessageEvent<string>): void {
  const frame: Frame = JSON.parse(event.data);
  const shown = hasMissed ? { ...frame, isReset: true } : frame;
  hasMissed = false;
  retryMs = limits.streamRetryMinMs;
  connection.value = 'live';
  newestFrame.value = shown;
  for (const listener of listeners) listener(shown);
}

/** The browser reconnects by itself, and says where it was; only a refusal is left to us. */
function onError(): void {
  connection.value = 'reconnecting';
  if (source?.readyState !== EventSource.CLOSED) return;
  source.close();
  source = undefined;
  hasMissed = true;
  retryTimer = setTimeout(retry, retryMs);
  retryMs = Math.min(retryMs * 2, limits.streamRetryMaxMs);
}

/**
 * A refusal may mean that the session is over: reading it says so, and then nothing is opened. Any other
 * failure of that reading says nothing: the stream itself is tried again.
 */
function retry(): void {
  void readSession().then(() => {
    // Somebody may have paused it meanwhile, or looked elsewhere.
    if (isWanted.peek()) open();
  });
}
