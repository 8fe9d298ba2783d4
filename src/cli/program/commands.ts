// All commands, in the order of the overview.
import type { Command } from '../declare/command.ts';
import { audit } from '../commands/audit.ts';
import { backup, migrate } from '../commands/database.ts';
import { check } from '../commands/check.ts';
import { deliveries, events, replay, retry } from '../commands/deliveries.ts';
import { doctor } from '../commands/doctor.ts';
import { key } from '../commands/keys.ts';
import {
  customers,
  listen,
  portal,
  subscribe,
  subscriptions,
  unsubscribe,
} from '../commands/subscriptions.ts';
import { eventTypes, publish, types } from '../commands/publish.ts';
import { serve } from '../commands/serve.ts';

export const commands: readonly Command[] = [
  serve,
  listen,
  publish,
  eventTypes,
  types,
  subscribe,
  unsubscribe,
  retry,
  replay,
  subscriptions,
  customers,
  portal,
  events,
  deliveries,
  key,
  audit,
  check,
  migrate,
  backup,
  doctor,
];
