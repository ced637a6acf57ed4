import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export interface CertificateOptions {
  readonly name: string;
  /** The identity for authentication by certificate. */
  readonly uri?: string | undefined;
  /** Host names and IPv4 addresses. */
  readonly hosts?: readonly string[] | undefined;
  readonly notBefore?: Date | undefined;
  readonly notAfter?: Date | undefined;
}

/** Both in PEM. */
export interface KeyAndCertificate {
  readonly key: string;
  readonly cert: string;
}

const DAY_MS = 86_400_000;
const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));

/** A certificate authority for tests, created at run time: no certificate in the repository expires. */
export class CertificateAuthority {
  readonly cert: string;
  private readonly key: KeyObject;
  private readonly name: string;
  private serial = 1;

  constructor(name: string) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.key = privateKey;
    this.name = name;
    this.cert = this.certificate({ name }, publicKey, true);
  }

  issue(options: CertificateOptions): KeyAndCertificate {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    return { key, cert: this.certificate(options, publicKey, false) };
  }

  private certificate(options: CertificateOptions, publicKey: KeyObject, authority: boolean): string {
    const from = options.notBefore ?? new Date(Date.now() - DAY_MS);
    const until = options.notAfter ?? new Date(Date.now() + DAY_MS);
    this.serial += 1;
    const body = sequence(
      tlv(0xa0, integer(2)),
      integer(this.serial),
      ECDSA_SHA256,
      commonName(this.name),
      sequence(time(from), time(until)),
      commonName(options.name),
      publicKey.export({ type: 'spki', format: 'der' }),
      tlv(0xa3, sequence(...extensions(options, authority))),
    );
    const signature = sign('sha256', body, this.key);
    const certificate = sequence(body, ECDSA_SHA256, tlv(0x03, Buffer.from([0]), signature));
    const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
    return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
  }
}

function extensions(options: CertificateOptions, authority: boolean): Buffer[] {
  const constraints = sequence(...(authority ? [tlv(0x01, Buffer.from([0xff]))] : []));
  const critical = tlv(0x01, Buffer.from([0xff]));
  const found = [sequence(oid('2.5.29.19'), critical, tlv(0x04, constraints))];
  const names = [
    ...(options.uri === undefined ? [] : [tlv(0x86, Buffer.from(options.uri))]),
    ...(options.hosts ?? []).map((host) =>
      /^[\d.]+$/.test(host)
        ? tlv(0x87, Buffer.from(host.split('.').map(Number)))
        : tlv(0x82, Buffer.from(host)),
    ),
  ];
  if (names.length > 0) found.push(sequence(oid('2.5.29.17'), tlv(0x04, sequence(...names))));
  return found;
}

function commonName(name: string): Buffer {
  return sequence(tlv(0x31, sequence(oid('2.5.4.3'), tlv(0x0c, Buffer.from(name)))));
}

function time(at: Date): Buffer {
  return tlv(0x18, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
}

function integer(value: number): Buffer {
  return tlv(0x02, Buffer.from(value < 0x80 ? [value] : [value >> 8, value & 0xff]));
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, ...parts);
}

// DER: tag, length, value. Lengths over 127 are preceded by their number of bytes.
function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  if (value.length < 0x80) return Buffer.concat([Buffer.from([tag, value.length]), value]);
  const head =
    value.length < 0x100 ? [tag, 0x81, value.length] : [tag, 0x82, value.length >> 8, value.length & 0xff];
  return Buffer.concat([Buffer.from(head), value]);
}
