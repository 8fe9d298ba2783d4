// Where things are, from the environment.
const { env } = process;

export const ringbackUrl = env['RINGBACK_URL'] ?? 'http://127.0.0.1:8080';
export const port = Number(env['PORT'] ?? 8090);
export const databaseFile = env['ORDERS_DB'] ?? 'orders.db';

export function requireKey(): string {
  const key = env['RINGBACK_API_KEY'];
  if (key !== undefined && key !== '') return key;
  console.error('Cannot publish without a key: set RINGBACK_API_KEY (ringback serve prints one)');
  process.exit(1);
}
