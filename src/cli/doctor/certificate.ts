// Checks the certificate of the service's own port: whether it fits its key, and how long it is
// valid.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { Config } from '../../config.ts';
import { failed, ok, reasonOf, warning, type Finding } from './finding.ts';

const dayMs = 24 * 60 * 60 * 1000;
const daysEnough = 14;

export function checkCertificate(
  { tlsCert, tlsKey, publicUrl }: Pick<Config, 'tlsCert' | 'tlsKey' | 'publicUrl'>,
  nowMs: number,
): Finding {
  if (tlsCert === undefined || tlsKey === undefined) {
    return ok('tls', 'not used: no certificate configured');
  }
  try {
    const certificate = new X509Certificate(readFileSync(tlsCert));
    const key = createPrivateKey(readFileSync(tlsKey));
    if (certificate.checkPrivateKey(key)) return assess(certificate, { publicUrl, nowMs });
    return failed('tls', {
      message: `The key in "${tlsKey}" does not belong to the certificate in "${tlsCert}"`,
      remedy: 'Set RINGBACK_TLS_CERT and RINGBACK_TLS_KEY to a matching pair',
    });
  } catch (error) {
    return failed('tls', {
      message: `Cannot read the certificate or its key: ${reasonOf(error)}`,
      remedy: 'Set RINGBACK_TLS_CERT and RINGBACK_TLS_KEY to readable PEM files',
    });
  }
}

function assess(
  certificate: X509Certificate,
  { publicUrl, nowMs }: { publicUrl: string | undefined; nowMs: number },
): Finding {
  const { validFromDate, validToDate } = certificate;
  const days = Math.floor((validToDate.getTime() - nowMs) / dayMs);
  const until = validToDate.toISOString().slice(0, 10);
  const remedy = 'Renew the certificate, then restart the service';
  if (days < 0) {
    return failed('tls', { message: `The certificate expired on ${until}`, remedy });
  }
  if (validFromDate.getTime() > nowMs) {
    const message = `The certificate is not valid before ${validFromDate.toISOString()}`;
    return failed('tls', {
      message,
      remedy: 'Check the clock of this machine, or wait until then',
    });
  }
  if (days < daysEnough) {
    return warning('tls', { message: `The certificate expires in ${days} days`, remedy });
  }
  const host = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
  if (host !== undefined && !isFor(certificate, host.replace(/^\[(.*)\]$/, '$1'))) {
    return warning('tls', {
      message: `The certificate is not valid for "${host}", the host of RINGBACK_PUBLIC_URL`,
      remedy: 'Get a certificate for that name, unless a proxy terminates TLS with its own',
    });
  }
  return ok('tls', `certificate valid for ${days} more days, key matches`);
}

function isFor(certificate: X509Certificate, host: string): boolean {
  const found = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  return found !== undefined;
}
