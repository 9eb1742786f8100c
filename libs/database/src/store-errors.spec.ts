import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { FencedError } from './fence.js';
import { isStoreAway } from './store-errors.js';

const failure = (code: string): Error => Object.assign(new Error('failed'), { code });
const refusal = (code: string): Error => Object.assign(new pg.DatabaseError('refused', 7, 'error'), { code });

/** Every class of PostgreSQL's appendix A, with a subclass of letters and one of digits. */
const CLASSES =
  '00 01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 53 54 55 57 58 F0 HV P0 XX';

describe('isStoreAway', () => {
  it('waits out every error of the operating system, with or without a driver around it', () => {
    const codes = Object.keys(constants.errno).concat('ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_MEMORY');
    expect(codes.filter((code) => !isStoreAway(failure(code)))).toEqual([]);
    expect(codes.filter((code) => !isStoreAway(new AggregateError([failure(code), failure(code)])))).toEqual([]);
    expect(codes.filter((code) => !isStoreAway(new Error('connect', { cause: failure(code) })))).toEqual([]);
  });

  it('waits out what TLS and streams fail with', () => {
    const codes = [
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'ERR_TLS_HANDSHAKE_TIMEOUT',
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'ERR_OSSL_EVP_UNSUPPORTED',
      'CERT_HAS_EXPIRED',
      'CERT_NOT_YET_VALID',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'ERR_STREAM_DESTROYED',
      'ERR_STREAM_WRITE_AFTER_END',
      'ERR_STREAM_PREMATURE_CLOSE',
      'ERR_SOCKET_CLOSED',
      'ERR_SOCKET_CONNECTION_TIMEOUT',
    ];
    expect(codes.filter((code) => !isStoreAway(failure(code)))).toEqual([]);
  });

  it('calls only the SQLSTATE classes 22 and 23 the fault of the row', () => {
    for (const subclass of ['000', '012', 'P05', '01A']) {
      const own = CLASSES.split(' ').filter((sqlClass) => !isStoreAway(refusal(`${sqlClass}${subclass}`)));
      expect(own).toEqual(['22', '23']);
    }
  });

  it.each(['28P01', '3D000', '42P01', '42501', '54000', '57P01', '25P03', '40P01', '53300', 'XX000'])(
    'waits out %s',
    (code) => expect(isStoreAway(refusal(code))).toBe(true),
  );

  it('knows every text of the driver for errors by which its connection is of no use', () => {
    const require = createRequire(import.meta.url);
    const folder = dirname(require.resolve('pg/package.json'));
    const pool = require.resolve('pg-pool', { paths: [folder] });
    const sources = readdirSync(join(folder, 'lib'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.js') && !name.includes('native'))
      .map((name) => join(folder, 'lib', name))
      .concat(pool);
    const texts = sources.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/new Error\(\s*['"`]([^'"`]+)/g)].map(([, text]) => text ?? ''),
    );
    const away = texts.filter((text) => isStoreAway(new Error(text)));
    const rest = texts.filter((text) => !away.includes(text));
    expect(away.length).toBeGreaterThan(40);
    // What is left are mistakes in how the driver is used.
    expect(rest.filter((text) => /connect|terminat|timeout|queryable|SSL|SASL|backend/i.test(text)).sort()).toEqual([
      'Client has already been connected. You cannot reuse a client.',
      'Invalid sslnegotiation value: ',
      'sslnegotiation=direct requires SSL to be enabled',
    ]);
  });

  it("judges Prisma's errors by the server's error", () => {
    const raw = (code: string) =>
      Object.assign(failure('P2010'), { meta: { driverAdapterError: { cause: { originalCode: code } } } });
    expect(
      ['P1001', 'P1008', 'P1017', 'P2021', 'P2024', 'P2034'].filter((code) => !isStoreAway(failure(code))),
    ).toEqual([]);
    expect(isStoreAway(raw('57P01'))).toBe(true);
    expect(isStoreAway(raw('22P05'))).toBe(false);
    expect(isStoreAway(failure('P2002'))).toBe(false);
  });

  it('takes an address that refuses for away although another one fails by a fault of ours', () => {
    expect(isStoreAway(new AggregateError([new TypeError('no'), failure('ECONNREFUSED')]))).toBe(true);
    expect(isStoreAway(new AggregateError([new TypeError('no')]))).toBe(false);
  });

  it('calls what no driver made a fault of our own', () => {
    const own = [
      new TypeError('x is not a function'),
      new RangeError('Invalid time value'),
      new Error('event sequence of channel c is missing'),
      failure('ERR_INVALID_ARG_TYPE'),
      failure('ERR_OUT_OF_RANGE'),
      failure('MODULE_NOT_FOUND'),
      new FencedError({ shard: 1, epoch: 2n }),
      'away',
      undefined,
    ];
    expect(own.filter(isStoreAway)).toEqual([]);
  });
});
