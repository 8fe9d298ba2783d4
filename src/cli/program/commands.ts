// All commands, in the order of the overview.
import type { Command } from '../declare/command.ts';
import { backup } from '../commands/backup.ts';
import { check } from '../commands/check.ts';
import { deliveries } from '../commands/deliveries.ts';
import { doctor } from '../commands/doctor.ts';
import { events } from '../commands/events.ts';
import { key } from '../commands/key.ts';
import { listen } from '../commands/listen.ts';
import { migrate } from '../commands/migrate.ts';
import { publish } from '../commands/publish.ts';
import { replay } from '../commands/replay.ts';
import { retry } from '../commands/retry.ts';
import { serve } from '../commands/serve.ts';
import { subscribe } from '../commands/subscribe.ts';
import { subscriptions } from '../commands/subscriptions.ts';
import { unsubscribe } from '../commands/unsubscribe.ts';

export const commands: readonly Command[] = [
  serve,
  listen,
  publish,
  subscribe,
  unsubscribe,
  retry,
  replay,
  subscriptions,
  events,
  deliveries,
  key,
  check,
  migrate,
  backup,
  doctor,
];
