// The states of endpoints and deliveries: an icon, a word and a colour that all mean the same.
import type { JSX } from 'preact';
import type { Delivery } from '../../src/client/contract/delivery.ts';
import type { Subscription } from '../../src/client/contract/subscription.ts';
import { Badge, shownState, type Tone } from '../src/components/badge.tsx';
import type { IconName } from '../src/components/icon.tsx';
import { t } from './language.ts';

type Look = readonly [tone: Tone, icon: IconName];

const endpointLooks = {
  active: ['good', 'check'],
  failing: ['bad', 'alert'],
  paused: ['warn', 'pause'],
  disabled: ['bad', 'alert'],
  unconfirmed: ['warn', 'clock'],
  ended: ['quiet', 'dash'],
} as const satisfies Record<string, Look>;

const deliveryLooks = {
  due: ['info', 'clock'],
  running: ['info', 'running'],
  retrying: ['warn', 'replay'],
  delivered: ['good', 'check'],
  dead: ['bad', 'close'],
  cancelled: ['quiet', 'dash'],
} as const satisfies Record<string, Look>;

export function EndpointBadge({ endpoint }: { readonly endpoint: Subscription }): JSX.Element {
  const { state, health } = endpoint;
  const isFailing = state === 'active' && health !== undefined && health.state !== 'ok';
  const shown = isFailing ? 'failing' : state;
  const [tone, icon] = endpointLooks[shown];
  return <Badge tone={tone} icon={icon} text={t().states[shown]} />;
}

export function DeliveryBadge({ delivery }: { readonly delivery: Delivery }): JSX.Element {
  const shown =
    delivery.state === 'due' && shownState(delivery) === 'retrying' ? 'retrying' : delivery.state;
  const [tone, icon] = deliveryLooks[shown];
  return <Badge tone={tone} icon={icon} text={t().states[shown]} />;
}
