// `npm run docs`: generates pages from code, and code from the contract. A test checks that they
// are current.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliPage } from './cli-page.ts';
import { clientContract } from './client-contract.ts';
import { failuresPage } from './failures-page.ts';
import { frozenMigrations, frozenPath } from './freeze-migrations.ts';
import { referencePage } from './reference-page.ts';
import { settingsPage } from './settings-page.ts';

const docs = join(import.meta.dirname, '..', 'docs');
writeFileSync(join(docs, 'settings.md'), settingsPage());
writeFileSync(join(docs, 'failures.md'), failuresPage());
writeFileSync(join(docs, 'reference.md'), await referencePage());
writeFileSync(join(docs, 'cli.md'), cliPage());

const contract = join(import.meta.dirname, '..', 'src', 'client', 'contract');
for (const [path, text] of await clientContract()) writeFileSync(join(contract, path), text);

writeFileSync(frozenPath, frozenMigrations());
