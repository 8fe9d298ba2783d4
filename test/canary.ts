// Collects the secrets that tests use, and looks for them where no secret may be: logs, errors, traces, metrics,
// the database. The log of every service under test is checked when it ends, whatever its test is about.
import assert from 'node:assert/strict';

/** Only the newest are looked for, because a test may create thousands. */
const secretsMax = 64;
const secrets = new Set<string>();

/** Shorter text could be found by chance. */
const secretCharsMin = 16;

/** Settings whose whole value is a secret. */
const secretSettings = ['RINGBACK_API_KEY', 'RINGBACK_ENCRYPTION_KEY'] as const;

/** Records the secrets in settings, including those inside other values. */
export function keepSettings(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of secretSettings) keepSecret(env[name] ?? '');
  keepSecret(URL.parse(env['DATABASE_URL'] ?? '')?.password ?? '');
  const headers = env['OTEL_EXPORTER_OTLP_HEADERS'] ?? '';
  for (const [, value = ''] of headers.matchAll(/=(?:Bearer(?: |%20))?([^,]+)/g)) keepSecret(value);
}

/** Records a secret; of a key only the part that is never shown. */
export function keepSecret(text: string): void {
  const secret = text.replace(/^rbk_.{8}|^whs(?:ec|k)_/, '');
  if (secret.length < secretCharsMin) return;
  secrets.add(secret);
  const [oldest] = secrets;
  if (secrets.size > secretsMax && oldest !== undefined) secrets.delete(oldest);
}

/** Paths of URLs in requests: they may be shown to callers and at the level debug, but in no other log line. */
const paths = new Set<string>();

function keepPaths(body: string): void {
  for (const [, path = ''] of body.matchAll(/https?:\/\/[^\s"/?#\\]+(\/[^\s"?#\\]+)/g)) {
    if (path.length < secretCharsMin) continue;
    paths.add(path);
    const [oldest] = paths;
    if (paths.size > secretsMax && oldest !== undefined) paths.delete(oldest);
  }
}

/** Records the secrets of a request and of its response. */
export function learnFrom(
  request: { headers: Readonly<Record<string, string>>; key: string | null; body?: unknown },
  answer: { headers: Headers; json: Readonly<Record<string, unknown>> },
): void {
  if (request.key !== null) keepSecret(request.key);
  keepPaths(JSON.stringify(request.body) ?? '');
  const cookies = [request.headers['cookie'] ?? '', ...answer.headers.getSetCookie()];
  for (const [, value = ''] of cookies.join(';').matchAll(/=([^;]+)/g)) keepSecret(value);
  for (const name of ['secret', 'key', 'ticket']) {
    const value = answer.json[name];
    if (typeof value === 'string') keepSecret(value);
  }
}

export function assertNoSecret(where: string, text: string): void {
  for (const secret of secrets) {
    const at = text.indexOf(secret);
    if (at < 0) continue;
    const around = text.slice(Math.max(at - 200, 0), at + secret.length + 20);
    assert.fail(`A secret appears in ${where}: …${around}…`);
  }
}

/** Lines of a log: no secret in any of them, and no path of a URL from the level info on. */
export function assertCleanLog(where: string, text: string): void {
  assertNoSecret(where, text);
  for (const line of text.split('\n')) {
    const isForAll = /^\{"level":[3-6]0,/.test(line) && !line.includes('"msg":"contract"');
    if (!isForAll) continue; // The text of a document comes from the operator.
    assert.doesNotMatch(
      line,
      /https?:\/\/[^\s"/\\]+\/[^\s"\\*]/,
      `A path of a URL appears in ${where}`,
    );
    for (const path of paths) assert(!line.includes(path), `A path appears in ${where}: ${line}`);
  }
}
