// Generates docs/settings.md from the table in src/config/settings.ts.
import { settings } from '../src/config/settings.ts';

interface Row {
  env: string;
  fallback: string | undefined;
  fallbackText?: string;
  meaning: string;
  isSecret?: true;
}

export function settingsPage(): string {
  const rows: Row[] = Object.values(settings);
  const lines = rows.map((row) => {
    const file = row.isSecret === true ? `, \`${row.env}_FILE\`` : '';
    const flag = `--${row.env
      .replace(/^RINGBACK_/, '')
      .toLowerCase()
      .replaceAll('_', '-')}`;
    const value = row.fallback === undefined ? (row.fallbackText ?? '–') : `\`${row.fallback}\``;
    return `| \`${row.env}\`${file} | \`${flag}\` | ${value} | ${row.meaning} |`;
  });
  return `# Settings

Set them in the environment, or as flags of \`ringback serve\`; a flag wins. A secret can also be read from a
file, whose path goes into the variable with \`_FILE\`. All mistakes are reported at once, at start.

| variable | flag | default | meaning |
|---|---|---|---|
${lines.join('\n')}

This page is made by \`npm run docs\` from \`src/config/settings.ts\`.
`;
}
