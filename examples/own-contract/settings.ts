// Where things are, from the environment.
const { env } = process;

export const url = env['RINGBACK_URL'] ?? 'http://127.0.0.1:8080';
export const port = Number(env['PORT'] ?? 8082);
export const [report = 'sales'] = process.argv.slice(2);

export function requireKey(): string {
  const key = env['RINGBACK_API_KEY'];
  if (key !== undefined && key !== '') return key;
  console.error('Cannot call without a key: set RINGBACK_API_KEY (ringback serve prints one)');
  process.exit(1);
}

/** The document has two alternatives: the key with the team, or a token alone. */
export function credentials(): Readonly<Record<string, string>> {
  const team = env['REPORTS_TEAM'];
  return team === undefined
    ? { authorization: `Bearer ${requireKey()}` }
    : { 'x-reports-key': requireKey(), 'x-reports-team': team };
}
