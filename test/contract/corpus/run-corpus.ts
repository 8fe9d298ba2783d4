// Real documents, if there is a corpus beside the checkout; each is run separately against one receiver.
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { receive } from '../../e2e/receiver.ts';
import { makeCertificate } from '../../egress/certificate.ts';
import { runDocument, type DocumentResult } from './run-document.ts';

/** The corpus is not part of the project. */
export const corpus = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  '..',
  'shared',
  'corpus',
  'openapi',
);
export const noCorpus = existsSync(corpus) ? false : `there is no corpus at ${corpus}`;

export function corpusFiles(folder = corpus): string[] {
  const files = existsSync(folder) ? globSync('**/*.{yaml,yml,json}', { cwd: folder }) : [];
  return files.toSorted().map((file) => join(folder, file));
}

/** References may lead anywhere in the root, because some documents have parts beside their own folder. */
export async function withRunner(
  contractRoot: string,
  use: (run: (file: string) => Promise<DocumentResult>) => Promise<void>,
): Promise<void> {
  // Some documents require https callback URLs.
  const certificate = makeCertificate('receiver.example');
  await using receiver = await receive(() => 200, certificate);
  await use(async (file) => runDocument(file, { receiver, certificate, contractRoot }));
}
