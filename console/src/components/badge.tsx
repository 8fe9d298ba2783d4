// State badges: an icon, a word and a colour that all mean the same.
import './badge.css';
import type { JSX } from 'preact';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import { Icon, type IconName } from './icon.tsx';

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'quiet';

const looks = {
  due: { tone: 'info', icon: 'clock', word: 'Queued' },
  running: { tone: 'info', icon: 'running', word: 'Running' },
  'in-flight': { tone: 'info', icon: 'running', word: 'In flight' },
  retrying: { tone: 'warn', icon: 'replay', word: 'Retrying' },
  delivered: { tone: 'good', icon: 'check', word: 'Delivered' },
  dead: { tone: 'bad', icon: 'close', word: 'Dead' },
  cancelled: { tone: 'quiet', icon: 'dash', word: 'Cancelled' },
  active: { tone: 'good', icon: 'check', word: 'Active' },
  unconfirmed: { tone: 'warn', icon: 'clock', word: 'Unconfirmed' },
  paused: { tone: 'warn', icon: 'pause', word: 'Paused' },
  disabled: { tone: 'bad', icon: 'alert', word: 'Disabled' },
  ended: { tone: 'quiet', icon: 'dash', word: 'Ended' },
  expired: { tone: 'quiet', icon: 'clock', word: 'Expired' },
  revoked: { tone: 'quiet', icon: 'close', word: 'Revoked' },
  done: { tone: 'good', icon: 'check', word: 'Done' },
  failing: { tone: 'bad', icon: 'alert', word: 'Failing' },
  inactive: { tone: 'warn', icon: 'pause', word: 'Inactive' },
  deprecated: { tone: 'warn', icon: 'alert', word: 'Deprecated' },
  rejected: { tone: 'bad', icon: 'close', word: 'Rejected' },
} as const satisfies Record<string, { tone: Tone; icon: IconName; word: string }>;

export type StateName = keyof typeof looks;

/** With a count: the number of items in that state. */
export function StateBadge({ state, count }: { state: StateName; count?: number }): JSX.Element {
  const { tone, icon, word } = looks[state];
  const text = count === undefined ? word : `${count} ${word.toLowerCase()}`;
  return <Badge tone={tone} icon={icon} text={text} />;
}

export function Badge({
  tone,
  icon,
  text,
}: {
  tone: Tone;
  icon?: IconName;
  text: string;
}): JSX.Element {
  return (
    <span class={`badge ${tone}`}>
      {icon === undefined ? null : <Icon name={icon} />}
      {text}
    </span>
  );
}

/** The displayed state of a delivery: a due delivery with failed attempts is "retrying". */
export function shownState({
  state,
  attemptCount,
  error,
}: Pick<Delivery, 'state' | 'attemptCount' | 'error'>): StateName {
  if (state === 'running') return 'in-flight';
  const isRetry = state === 'due' && (error !== undefined || attemptCount > 0);
  return isRetry ? 'retrying' : state;
}
