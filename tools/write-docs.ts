// `npm run docs`: writes the pages that are made from code. A test holds them equal.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliPage } from './cli-page.ts';
import { failuresPage } from './failures-page.ts';
import { settingsPage } from './settings-page.ts';

const docs = join(import.meta.dirname, '..', 'docs');
writeFileSync(join(docs, 'settings.md'), settingsPage());
writeFileSync(join(docs, 'failures.md'), failuresPage());
writeFileSync(join(docs, 'cli.md'), cliPage());
