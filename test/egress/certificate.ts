// Certificates generated on demand, so that the repository contains no private key and none expires.
import { generateKeyPairSync, sign } from 'node:crypto';

export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

/** Dates are `YYYYMMDD`. */
export interface CertificateOptions {
  from?: string;
  until?: string;
  address?: '127.0.0.1' | 'none';
}

/** Self-signed, for one name and, by default, 127.0.0.1. */
export function makeCertificate(
  name: string,
  { from = '20200101', until = '20991231', address = '127.0.0.1' }: CertificateOptions = {},
): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const commonName = der(0x30, der(0x31, der(0x30, oid('550403'), der(0x0c, Buffer.from(name)))));
  const addresses = address === 'none' ? [] : [der(0x87, Buffer.from([127, 0, 0, 1]))];
  const altNames = der(0x30, der(0x82, Buffer.from(name)), ...addresses);
  const ecdsaSha256 = der(0x30, oid('2a8648ce3d040302'));
  const unsigned = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaSha256,
    commonName,
    der(0x30, ...[from, until].map((day) => der(0x18, Buffer.from(`${day}000000Z`)))),
    commonName,
    publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, der(0x30, der(0x30, oid('551d11'), der(0x04, altNames)))),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', unsigned, privateKey)]);
  const whole = der(0x30, unsigned, ecdsaSha256, der(0x03, signature));
  // OpenSSL treats an empty line as the end.
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }),
  };
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const size =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}
