// The live view: one EventSource on /stream for the whole page. Nothing is queued: a page that was
// hidden or disconnected gets `isReset` and reloads its lists. deliveries/live-list.ts applies the changes
// to a list.
import { computed, effect, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { base } from './base.ts';
import { limits } from './limits.ts';
import { readSession, session } from './session.ts';
import type { Frame } from './frame.ts';

export type Connection = 'off' | 'connecting' | 'live' | 'reconnecting';

export const connection = signal<Connection>('off');

/** Whether the user paused live updates; lists do not change meanwhile. */
export const isPaused = signal(false);

/** The latest frame, for components that only need its counts. */
export const newestFrame = signal<Frame | undefined>(undefined);

const isVisible = signal(true);

/** Open only with the `read` scope, on a visible page that is not paused. */
const isWanted = computed(() => {
  const mayRead = session.value?.scopes.includes('read') ?? false;
  return mayRead && isVisible.value && !isPaused.value;
});

type Listener = (frame: Frame) => void;

const listeners = new Set<Listener>();
let source: EventSource | undefined;
let retryMs: number = limits.streamRetryMinMs;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
let hasMissed = false;

/** Calls the listener for each frame while the component is mounted. */
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

/** Polls while the stream is not connected. */
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
  isVisible.value = !document.hidden;
  // Browsers allow six connections per host over HTTP/1.1: hidden tabs must not hold them.
  document.addEventListener('visibilitychange', () => {
    isVisible.value = !document.hidden;
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
  source = new EventSource(`${base}/stream`);
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

/** The browser reconnects and resumes by itself. Only a refused connection is retried here. */
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
 * A refusal may mean that the session has ended. Loading the session detects that and then nothing
 * is opened. After any other failure the stream is retried.
 */
function retry(): void {
  void readSession().then(() => {
    // The user may have paused or hidden the page meanwhile.
    if (isWanted.peek()) open();
  });
}
