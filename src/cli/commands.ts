// All commands, in the order of the overview.
import type { Command } from './command.ts';
import { backup } from './commands/backup.ts';
import { check } from './commands/check.ts';
import { doctor } from './commands/doctor.ts';
import { key } from './commands/key.ts';
import { listen } from './commands/listen.ts';
import { migrate } from './commands/migrate.ts';
import { serve } from './commands/serve.ts';

export const commands: readonly Command[] = [serve, listen, key, check, migrate, backup, doctor];
