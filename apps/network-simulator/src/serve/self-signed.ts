import { generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** A TLS certificate and its key, as PEM. */
export interface TlsIdentity {
  certificate: string;
  key: string;
}

const YEARS = 10;
const OID = {
  commonName: '0603550403',
  ecdsaWithSha256: '06082a8648ce3d040302',
  basicConstraints: '0603551d13',
  subjectAltName: '0603551d11',
};

/**
 * Makes a self-signed certificate for these names and addresses (X.509 v3, P-256). Node can sign but not write certificates,
 * so the few structures are written here by hand; clients trust it by its PEM.
 */
export function selfSigned(dnsNames: string[], ipAddresses: string[], now: Date): TlsIdentity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(0x30, hex(OID.ecdsaWithSha256));
  const commonName = der(0x30, hex(OID.commonName), der(0x0c, Buffer.from('network-simulator')));
  const name = der(0x30, der(0x31, commonName));
  const until = new Date(now);
  until.setUTCFullYear(until.getUTCFullYear() + YEARS);
  const since = new Date(now.getTime() - 86_400_000);
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(8)]);
  const content = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    algorithm,
    name,
    der(0x30, utcTime(since), utcTime(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, authority(), alternativeNames(dnsNames, ipAddresses))),
  );
  const signature = sign('sha256', content, privateKey);
  const certificate = der(0x30, content, algorithm, der(0x03, Buffer.from([0]), signature));
  return {
    certificate: pem('CERTIFICATE', certificate),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function authority(): Buffer {
  const isAuthority = der(0x30, der(0x01, Buffer.from([0xff])));
  return der(0x30, hex(OID.basicConstraints), der(0x01, Buffer.from([0xff])), der(0x04, isAuthority));
}

function alternativeNames(dnsNames: string[], ipAddresses: string[]): Buffer {
  const names = [
    ...dnsNames.map((name) => der(0x82, Buffer.from(name))),
    ...ipAddresses.map((address) => der(0x87, addressBytes(address))),
  ];
  return der(0x30, hex(OID.subjectAltName), der(0x04, der(0x30, ...names)));
}

/** Whether a certificate is for all of these names and addresses. */
export function certifies(certificate: string, dnsNames: readonly string[], ipAddresses: readonly string[]): boolean {
  const parsed = new X509Certificate(certificate);
  return (
    dnsNames.every((name) => parsed.checkHost(name) !== undefined) &&
    ipAddresses.every((address) => parsed.checkIP(address) !== undefined)
  );
}

/** An address as certificates hold it: 4 bytes, or 16 of IPv6 (where `::` stands for as many zeros as are lacking). */
function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [first = '', last] = address.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const [head, tail] = [groups(first), groups(last ?? '')];
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return hex([...head, ...zeros, ...tail].map((group) => group.padStart(4, '0')).join(''));
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length;
  const header =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), content]);
}

const hex = (digits: string): Buffer => Buffer.from(digits, 'hex');

function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
