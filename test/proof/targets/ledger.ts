// Hands out each public address once, for one response of the name server, so that a connection shows which response it
// used. Verdicts rely on this ledger alone, never on the product's own rules.

/** The response of the name server to one lookup, for both address families. */
export interface Told {
  scenario: string;
  /** A forbidden address in the response: then none of its addresses may be used. */
  tainted: string | undefined;
}

export class Ledger {
  readonly #told = new Map<string, Told>();

  /** A public address that was not handed out before. */
  fresh(family: 4 | 6, told: Told): string {
    const no = this.#told.size + 1;
    const address =
      family === 4
        ? `45.${(no >> 16) & 255}.${(no >> 8) & 255}.${no & 255}`
        : `2a00:${((no >> 15) + 1).toString(16)}:${((no & 0x7fff) + 1).toString(16)}::1`;
    this.#told.set(address, told);
    return address;
  }

  told(address: string): Told | undefined {
    return this.#told.get(address);
  }

  /** Why a connection to this address is forbidden; undefined if it is allowed. */
  fault(address: string): string | undefined {
    const told = this.#told.get(address);
    if (told === undefined) return 'it is forbidden';
    if (told.tainted === undefined) return undefined;
    return `${told.scenario}: the same answer led to ${told.tainted}`;
  }
}

/** Some addresses of each special-purpose range, and of each embedding of IPv4 in IPv6. */
export const forbidden4 = [
  '127.0.0.1',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.254',
  '192.168.0.1',
  '169.254.169.254',
  '169.254.170.2',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '198.18.0.1',
  '203.0.113.7',
  '0.0.0.0',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
] as const;

export const forbidden6 = [
  '::1',
  '::',
  'fe80::1',
  'fc00::1',
  'fd00:ec2::254',
  'fd20:ce::254',
  'ff02::1',
  '2001:db8::1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:169.254.169.254',
  '::ffff:45.0.0.1',
  '::127.0.0.1',
  '::ffff:0:10.0.0.1',
  '64:ff9b::169.254.169.254',
  '64:ff9b:1::10.0.0.1',
  '2002:a00:1::1',
  '2002:a9fe:a9fe::1',
  '2001:0:4136:e378:8000:63bf:f5ff:fffe',
  '2606:4700::5efe:10.0.0.1',
] as const;
