// Where things are, from the environment.
const { env } = process;

export const port = Number(env['PORT'] ?? 3000);
export const ringbackPort = Number(env['RINGBACK_PORT'] ?? 8080);
/** The management API of a gateway is below `/ringback`. */
export const ringbackUrl = env['RINGBACK_URL'] ?? `http://127.0.0.1:${ringbackPort}/ringback`;

export function requireKey(): string {
  const key = env['RINGBACK_API_KEY'];
  if (key !== undefined && key !== '') return key;
  console.error('Cannot start without a key: set RINGBACK_API_KEY to 32 random characters or more');
  process.exit(1);
}
