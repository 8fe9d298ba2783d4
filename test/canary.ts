// Secrets that tests have met, and a look for them where no secret may be: logs, errors, traces, metrics,
// the database. Services under test are looked at when they end, whatever their test is about.
import assert from 'node:assert/strict';

/** The newest are looked for: a test that makes thousands would look for ever. */
const secretsMax = 64;
const secrets = new Set<string>();

/** Below this anything could be found by chance. */
const secretCharsMin = 16;

/** Settings that are secrets. */
const secretSettings = ['RINGBACK_API_KEY', 'RINGBACK_ENCRYPTION_KEY'] as const;

/** Notes the secrets among settings, those inside others, too. */
export function keepSettings(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of secretSettings) keepSecret(env[name] ?? '');
  keepSecret(URL.parse(env['DATABASE_URL'] ?? '')?.password ?? '');
  const headers = env['OTEL_EXPORTER_OTLP_HEADERS'] ?? '';
  for (const [, value = ''] of headers.matchAll(/=(?:Bearer(?: |%20))?([^,]+)/g)) keepSecret(value);
}

/** Notes a secret: of a key the part that nobody shows. */
export function keepSecret(text: string): void {
  const secret = text.replace(/^rbk_.{8}|^whs(?:ec|k)_/, '');
  if (secret.length < secretCharsMin) return;
  secrets.add(secret);
  const [oldest] = secrets;
  if (secrets.size > secretsMax && oldest !== undefined) secrets.delete(oldest);
}

/** Paths of URLs in requests: they may be shown to callers and at the level debug, and in no other line of a log. */
const paths = new Set<string>();

function keepPaths(body: string): void {
  for (const [, path = ''] of body.matchAll(/https?:\/\/[^\s"/?#\\]+(\/[^\s"?#\\]+)/g)) {
    if (path.length < secretCharsMin) continue;
    paths.add(path);
    const [oldest] = paths;
    if (paths.size > secretsMax && oldest !== undefined) paths.delete(oldest);
  }
}

/** Notes what a request carries and what its answer gives away for the first time. */
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
    assert.fail(`A secret stands in ${where}: …${around}…`);
  }
}

/** Lines of a log: no secret in any of them, and no path of a URL from the level info on. */
export function assertCleanLog(where: string, text: string): void {
  assertNoSecret(where, text);
  for (const line of text.split('\n')) {
    const isForAll = /^\{"level":[3-6]0,/.test(line) && !line.includes('"msg":"contract"');
    if (!isForAll) continue; // What a document says, the operator wrote himself.
    assert.doesNotMatch(
      line,
      /https?:\/\/[^\s"/\\]+\/[^\s"\\*]/,
      `A path of a URL stands in ${where}`,
    );
    for (const path of paths) assert(!line.includes(path), `A path stands in ${where}: ${line}`);
  }
}
